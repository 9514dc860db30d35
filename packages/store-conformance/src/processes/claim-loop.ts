// The script of a claiming process: started by `startClaimLoop`, told over IPC what to do.
import type { ClaimCompletion, OutboxClaim } from "@outbox/core";
import type { StoreProcessModule } from "../harness/store-processes.js";
import type { StoreUnderTest } from "../harness/store-under-test.js";
import type { WrapDriver } from "../harness/wrap-driver.js";
import { findMutant } from "../mutants/all-mutants.js";
import type { ClaimLoopMessage, ClaimLoopOrder } from "./claim-loop-messages.js";
import { pseudoRandom } from "./pseudo-random.js";

/** Resolves once the message is out, so that a later kill cannot lose it. */
const report = (message: ClaimLoopMessage): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve()));
  });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function wrapperOf(
  module: StoreProcessModule,
  { mutantId, args }: ClaimLoopOrder,
): Promise<WrapDriver | undefined> {
  if (mutantId === null || module.openRaw === undefined) return undefined;
  const raw = await module.openRaw(args);
  const mutant = findMutant(mutantId);
  return (driver) => mutant.wrap?.(driver, () => raw) ?? driver;
}

/** What becomes of one claim under the `mixed` plan; `null` is abandoned. */
function mixedCompletion(claim: OutboxClaim, random: number): ClaimCompletion | null {
  if (random < 0.5) return { claim, kind: "release" };
  if (random < 0.75) return null;
  if (random < 0.92) {
    const error = { code: "test.failure", message: "made to fail", isRetryable: true };
    return { claim, kind: "failed", error, retry: { retryInMs: 0 } };
  }
  return { claim, kind: "delivered" };
}

async function loop(store: StoreUnderTest, order: ClaimLoopOrder): Promise<void> {
  const random = pseudoRandom(order.seed);
  const { workerId, leaseDurationMs, maxCount, plan } = order;
  let emptyClaims = 0;
  for (let round = 0; order.rounds === null || round < order.rounds; round++) {
    const batch = await store.claim({ workerId, leaseDurationMs, maxCount });
    await report({
      kind: "claimed",
      claims: batch.claims.map(({ entry, claimToken, claimedAt, claimExpiresAt }) => ({
        workerId,
        entryId: entry.entryId,
        claimToken,
        claimedAt: claimedAt.getTime(),
        claimExpiresAt: claimExpiresAt.getTime(),
        claimAttemptCount: entry.claimAttemptCount,
      })),
    });
    if (plan === "hold") return new Promise(() => setInterval(() => undefined, 60_000));
    if (batch.claims.length === 0) {
      // Others hold the rest: they may abandon it, so "empty" is believed late.
      if (order.rounds === null && ++emptyClaims > 10) return;
      await pause(10 + random() * 20);
      continue;
    }
    emptyClaims = 0;
    const completions = batch.claims.flatMap((claim) =>
      plan === "deliver"
        ? { claim, kind: "delivered" as const }
        : (mixedCompletion(claim, random()) ?? []),
    );
    const transitions = await store.completeClaims(completions);
    const claimTokens = completions.flatMap(({ claim }, index) =>
      transitions[index]?.outcome === "applied" ? claim.claimToken : [],
    );
    await report({ kind: "ended", claimTokens });
    if (plan === "mixed") await pause(random() * 10);
  }
}

async function obey(order: ClaimLoopOrder): Promise<void> {
  const module = (await import(order.module)) as StoreProcessModule;
  const wrapDriver = await wrapperOf(module, order);
  const store = await module.openStore(order.args, { wrapDriver });
  await loop(store, order);
  await store.close();
}

// Without the parent there is nobody to report to.
process.once("disconnect", () => process.exit(1));
process.once("message", (order: ClaimLoopOrder) => {
  obey(order)
    .then(
      () => report({ kind: "done" }),
      (error: unknown) =>
        report({
          kind: "failed",
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
    )
    .finally(() => process.exit(0));
});
