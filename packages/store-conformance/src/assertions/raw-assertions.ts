import assert from "node:assert/strict";
import type { ClaimTransition, OutboxClaim, TransitionOutcome } from "@outbox/core";
import type { RawEntry } from "../harness/raw-probes.js";

/** The row carries no claim. */
export function assertUnclaimed(row: RawEntry, when: string): void {
  const { claimOwner, claimToken, claimedAt, claimExpiresAt } = row;
  assert.deepEqual(
    { claimOwner, claimToken, claimedAt, claimExpiresAt },
    { claimOwner: null, claimToken: null, claimedAt: null, claimExpiresAt: null },
    `${when}: the stored entry ${row.entryId} carries no claim`,
  );
}

/** The row carries this claim. */
export function assertHeldBy(row: RawEntry, claim: OutboxClaim, when: string): void {
  assert.equal(
    row.claimToken,
    claim.claimToken,
    `${when}: the stored token of entry ${row.entryId} is the claim's`,
  );
  assert.equal(row.claimOwner, claim.workerId, `${when}: the stored owner is the claim's`);
}

/** Nothing about the row changed. */
export function assertUnchanged(
  before: RawEntry | null,
  after: RawEntry | null,
  what: string,
): void {
  assert.deepEqual(after, before, `${what} changes nothing in the stored entry`);
}

export function assertOutcome(
  transition: Pick<ClaimTransition, "outcome"> | undefined,
  expected: TransitionOutcome,
  what: string,
): void {
  assert.equal(transition?.outcome, expected, `outcome of ${what}`);
}

/** Two instants of the store's clock that may differ by its precision and by what a claim takes. */
export function assertNear(
  actual: number | null,
  expected: number,
  toleranceMs: number,
  what: string,
): void {
  assert(
    actual !== null && Math.abs(actual - expected) <= toleranceMs,
    `${what} is within ${toleranceMs} ms of ${new Date(expected).toISOString()}, not ${actual === null ? "null" : new Date(actual).toISOString()}`,
  );
}

/** Each item once. */
export function assertDistinct(items: readonly string[], what: string): void {
  const seen = new Set<string>();
  const repeated = items.filter((item) => seen.size === seen.add(item).size);
  assert.deepEqual(repeated, [], `${what} are distinct; these are not`);
}
