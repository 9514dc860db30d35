/**
 * What a store guarantees beyond what its types can say. Every field is required, and callers
 * branch on these values, never on a store's name. What the presence of a facet already says
 * (selection, inspection, redrive, retention, schema, wake-up) is not repeated here.
 */
export interface StoreCapabilities {
  /** `process`: gone with it. `retention`: kept for a bounded time (see `maxParkedAgeMs`). */
  readonly durability: "process" | "durable" | "retention";
  /** `enqueue` joins the caller's transaction. */
  readonly transactionalEnqueue: boolean;
  /** Whether a stale token can change anything: `enforced` never, `refuses-expired` while not expired, `advisory` maybe. */
  readonly fencing: "enforced" | "refuses-expired" | "advisory";
  /** A transition after the lease expired, before anyone re-claimed. */
  readonly lateCompletion: "applied" | "delivered-only" | "refused";
  /** Uniqueness of (envelopeId, destination). `windowed`: within the queue's deduplication window. */
  readonly entryUniqueness: "enforced" | "windowed" | "advisory";
  /** Whether `retryCount`, `claimAttemptCount` and the abandoned counters are exact. */
  readonly counters: "exact" | "upper-bound";
  /** Whether a lone claimer gets precisely the first n by (due time, sequence). */
  readonly selectionOrder: "exact" | "exact-uncontended" | "per-group" | "advisory";
  /** `merged`: pending and retry-ready entries cannot be claimed apart. */
  readonly claimKinds: "separate" | "merged";
  readonly typeFilter: "in-claim" | "none";
  /** A repeated claim with the same `claimId` returns the live leases that carry it. */
  readonly claimReplay: boolean;
  /** `in-claim`: nothing beyond `maxBytes` is stamped. `after-receive`: surplus is released. */
  readonly byteBound: "in-claim" | "after-receive";
  /** Whether delivered entries stay readable. */
  readonly keepsDelivered: "always" | "option" | "never";
  /** Emission in sequence per (orderingKey, destination). `none`: `enqueue` refuses `orderingKey`. */
  readonly perKeyOrder: "none" | "enforced" | "send-order";
  /** Re-claims are counted and suspects can be claimed apart. */
  readonly crashIsolation: boolean;
  /** Longest lease, in ms; `null` is unbounded. */
  readonly maxLeaseMs: number | null;
  /** Longest delay, in ms; `null` is unbounded. */
  readonly maxDelayMs: number | null;
  /** Most entries one claim can return; `null` is unbounded. */
  readonly maxClaimCount: number | null;
  /** Most transitions or renewals the database takes at once; core splits. `null` is unbounded. */
  readonly maxTransitionBatch: number | null;
  /** How long a parked or dead-lettered entry is kept, in ms; `null` is until purged. */
  readonly maxParkedAgeMs: number | null;
  /** Smallest step of the store's clock, in ms. */
  readonly timePrecisionMs: number;
  /** Who mints claim tokens: `core` hands a prefix to the driver, `store` uses its native handle. */
  readonly token: "core" | "store";
}
