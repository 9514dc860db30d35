import type { EmissionStatus } from "./emission-status.js";
import type { EntryFailure, OutboxEntry } from "./outbox-entry.js";

/**
 * The final write of a claim. `release` gives the entry back unemitted; `pending` is a saved entry
 * that starts over; every other kind is named after the status it leads to.
 */
export type TransitionKind = EmissionStatus | "release";

/** A due time: a delay from the store's now (what the drain uses), or a caller's absolute wish. */
export type Due = { readonly inMs: number } | { readonly at: Date };

/**
 * What a transition writes, ready for a driver: core has applied the state machine, the driver
 * only adds its clock. All values are absolute; the token guarantees that the row has not changed
 * since the claim was taken.
 */
export interface TransitionWrite {
  readonly kind: TransitionKind;
  /** The resulting status. */
  readonly status: EmissionStatus;
  readonly retryCount: number;
  readonly failures: readonly EntryFailure[];
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * The next due time; `null` where the status has none (delivered, dead-lettered, failed) and for
   * a plain release, which restores the due time from before the claim. For status `pending` it is
   * written to `availableAt`, for `deferred` and `retryable-failure` to `nextRetryAt`.
   */
  readonly due: Due | null;
  readonly deadLetterReason: string | null;
  readonly providerMessageId: string | null;
}

/**
 * What a transition did, decided in this order on the locked row:
 *
 * 1. no row: `missing`
 * 2. stored token is mine: `applied`
 * 3. the last applied transition had my token and the same kind: `applied`, `replayed: true`
 * 4. terminal: `terminal`
 * 5. else `stale-claim`
 *
 * `leased` comes from the selection path (a live lease is in the way); `concurrency-lost` only from
 * a store that reads before a conditional write and lost the race.
 */
export type TransitionOutcome =
  | "applied"
  | "stale-claim"
  | "terminal"
  | "leased"
  | "concurrency-lost"
  | "missing";

/** Result of one transition. A lost claim is an outcome, not an exception. */
export interface ClaimTransition {
  readonly outcome: TransitionOutcome;
  /** The entry afterwards, or as it stands now if nothing was applied; `null` if missing or unknown. */
  readonly entry: OutboxEntry | null;
  /** The transition had been applied before, its reply was lost; nothing was counted twice. */
  readonly replayed?: true | undefined;
}
