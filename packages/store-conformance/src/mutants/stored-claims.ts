import type { DriverCompletion, OutboxClaim } from "@outbox/core";
import type { RawChanges, RawEntry, RawProbes } from "../harness/raw-probes.js";

/** Overwrites a row past the store. */
export async function overwrite(
  raw: RawProbes,
  entryId: string,
  changes: RawChanges,
): Promise<void> {
  if (raw.writeEntry === undefined) {
    throw new Error("broken stores need a harness whose raw probes have writeEntry");
  }
  await raw.writeEntry(entryId, changes);
}

/** Takes a claim's stamp back: the row is as it was before. */
export async function unstamp(raw: RawProbes, before: RawEntry): Promise<void> {
  const { claimOwner, claimToken, claimedAt, claimExpiresAt, claimAttemptCount } = before;
  const { abandonedClaimCount, soloClaim, soloAbandonedCount } = before;
  await overwrite(raw, before.entryId, {
    claimOwner,
    claimToken,
    claimedAt,
    claimExpiresAt,
    claimAttemptCount,
    abandonedClaimCount,
    soloClaim,
    soloAbandonedCount,
  });
}

/** The claim with the token that is stored, where `isMine` says that it will do. */
export async function withStoredToken(
  raw: RawProbes,
  claim: OutboxClaim,
  isMine: (row: RawEntry) => boolean = () => true,
): Promise<OutboxClaim> {
  const row = await raw.readEntry(claim.entry.entryId);
  if (row === null || row.claimToken === null || !isMine(row)) return claim;
  return { ...claim, claimToken: row.claimToken };
}

/** Every completion with its claim replaced. */
export function replaceClaims(
  completions: readonly DriverCompletion[],
  replace: (claim: OutboxClaim) => Promise<OutboxClaim>,
): Promise<DriverCompletion[]> {
  return Promise.all(
    completions.map(async ({ claim, write }) => ({ claim: await replace(claim), write })),
  );
}
