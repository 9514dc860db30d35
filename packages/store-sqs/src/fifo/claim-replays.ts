import type { DriverClaim } from "@outbox/core";
import { BoundedMap } from "../bounded-map.js";
import type { FinishedClaims } from "../finished-claims.js";
import type { ReceivedEntry } from "../received-message.js";

interface Remembered {
  readonly claim: DriverClaim;
  readonly deadlineMs: number;
}

/**
 * Leases by claim id, for a repeated claim whose first answer did arrive here. One that did not is
 * found again by SQS itself, through the receives' attempt ids.
 */
export class ClaimReplays {
  readonly #finished: FinishedClaims;
  readonly #byClaimId = new BoundedMap<string, readonly Remembered[]>(1_000);

  constructor(finished: FinishedClaims) {
    this.#finished = finished;
  }

  /** The live leases that carry this id. */
  find(claimId: string | null, nowMs: number): readonly DriverClaim[] {
    if (claimId === null) return [];
    return (this.#byClaimId.get(claimId) ?? [])
      .filter(
        ({ claim, deadlineMs }) =>
          deadlineMs > nowMs && this.#finished.get(claim.entry.claimToken ?? "") === undefined,
      )
      .map(({ claim }) => claim);
  }

  /** @param received - what the claims are of, in the same order */
  remember(
    claimId: string | null,
    claims: readonly DriverClaim[],
    received: readonly ReceivedEntry[],
  ): void {
    if (claimId === null || claims.length === 0) return;
    const added = claims.map((claim, index) => {
      const { leasedAtMs = 0, leaseDurationMs = 0 } = received[index] ?? {};
      return { claim, deadlineMs: leasedAtMs + leaseDurationMs };
    });
    this.#byClaimId.set(claimId, [...(this.#byClaimId.get(claimId) ?? []), ...added]);
  }
}
