import type { OutboxEntry } from "./outbox-entry.js";

/**
 * When the worker must stop trusting a lease, by its own clocks; never serialised. Computed from
 * the moment the claim was *sent*, so it is never later than the store's own expiry.
 */
export interface LeaseDeadline {
  /** On the scale of `performance.now()`. */
  readonly monotonicMs: number;
  /** On the scale of `Date.now()`: catches a suspended machine, whose monotonic clock stood still. */
  readonly wallMs: number;
}

/** A lease on one entry, held by one worker, proven by an opaque token. */
export interface OutboxClaim {
  readonly entry: OutboxEntry;
  readonly workerId: string;
  /** Unique per entry and claim. Opaque: only the store compares it. */
  readonly claimToken: string;
  /**
   * Since when the entry could be claimed, by the store's clock: for an abandoned lease, its end.
   * `null` where the claim was found again by its `claimId`.
   */
  readonly dueAt: Date | null;
  /** By the store's clock. */
  readonly claimedAt: Date;
  /** By the store's clock. */
  readonly claimExpiresAt: Date;
  readonly deadline: LeaseDeadline;
}
