import type { EmissionError } from "../contract/emission-result.js";
import type { EmitterLike } from "../contract/emitter.js";
import type { OutboxClaimStore } from "../contract/outbox-claim-store.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { OutboxStore } from "../contract/outbox-store.js";
import type { OutboxEvent } from "./outbox-event.js";
import type { OutboxLogger } from "./outbox-logger.js";
import type { RateLimit } from "./rate-limit.js";

/** How a drain claims, emits and finalizes. Everything but store and emitter has a default. */
export interface DrainOptions {
  /** A claim store, or with `useClaimLeases: false` a selection store. */
  readonly store: OutboxClaimStore | OutboxStore;
  /** A plain async function is an emitter: returning means delivered, throwing means retry. */
  readonly emitter: EmitterLike;
  /** Who claims, at most 255 characters; for people. @defaultValue host, pid and a random part */
  readonly workerId?: string | undefined;
  /**
   * `false` selects without claiming: two drains over the same entries then both emit them. Only
   * for one worker, or disjoint partitions. @defaultValue true
   */
  readonly useClaimLeases?: boolean | undefined;
  /** Longest time before another worker may take over from a dead one, in ms. @defaultValue 60 000 */
  readonly leaseDurationMs?: number | undefined;
  /** No emission starts with less of its lease left, in ms. @defaultValue max(1 000, lease / 10) */
  readonly leaseMarginMs?: number | undefined;
  /** Most entries per claim. @defaultValue 100 */
  readonly batchSize?: number | undefined;
  /** Most payload bytes per claim; one oversize entry is claimed alone. @defaultValue 32 MiB */
  readonly maxBatchBytes?: number | undefined;
  /** Emissions at a time. @defaultValue 10 */
  readonly emitConcurrency?: number | undefined;
  /** An emission that takes longer is a failure and frees its slot, in ms. @defaultValue 30 000 */
  readonly emitTimeoutMs?: number | undefined;
  /** Claim these event types only. @defaultValue the emitter's own `types`, where it names them */
  readonly types?: readonly string[] | undefined;

  /** The failure that dead-letters an entry. @defaultValue 20 */
  readonly maxRetryAttempts?: number | undefined;
  /** `false` parks the entry as `failed` instead. @defaultValue true */
  readonly deadLetterOnMaxRetryAttempts?: boolean | undefined;
  /** @defaultValue `"outbox.max_retry_attempts_exceeded"` */
  readonly deadLetterReasonCode?: string | undefined;
  /**
   * Replaces `maxRetryAttempts`: failures are retried until the entry is this old, in ms.
   * @defaultValue unset, or 24 h where the store's counters are only upper bounds
   */
  readonly retryForMs?: number | undefined;
  /** Delay after the first failure, in ms. @defaultValue 1 000 */
  readonly retryDelayMs?: number | undefined;
  /** Longest random part of the delay, which doubles with each failure, in ms. @defaultValue 600 000 */
  readonly maxRetryDelayMs?: number | undefined;
  /** Replaces the computed delay, in ms; a provider's own retryAfter still wins. */
  readonly retryDelay?:
    | ((failure: {
        readonly failures: number;
        readonly error: EmissionError;
        readonly entry: OutboxEntry;
      }) => number)
    | undefined;
  /** Delay of a deferred result that names none, in ms. @defaultValue 60 000 */
  readonly deferredDelayMs?: number | undefined;
  /** Delay of an entry that the emitter gave back as `pending`, in ms. @defaultValue 1 000 */
  readonly pollIntervalMs?: number | undefined;
  /**
   * Results that could not be written yet (database down); at this bound nothing more is claimed.
   * @defaultValue 10 000
   */
  readonly maxUnfinalized?: number | undefined;

  /**
   * After this many transient failures in a row a route's circuit opens: its entries are put off
   * uncounted, and single probes ask whether the provider is back. `false`: never.
   */
  readonly circuit?: false | CircuitSettings | undefined;
  /** Emissions per second, per route (`"default"`, where the emitter names no routes). */
  readonly rateLimits?: Readonly<Record<string, RateLimit>> | undefined;

  /** Told of every claim, emission, transition and renewal; never of a payload. */
  readonly observer?: ((event: OutboxEvent) => void) | undefined;
  /** @defaultValue silent */
  readonly logger?: OutboxLogger | undefined;
}

/** When a circuit opens, and how it probes. */
export interface CircuitSettings {
  /** @defaultValue 10 */
  readonly openAfter?: number | undefined;
  /** Delay before the first probe, in ms; it doubles with each that fails. @defaultValue 1 000 */
  readonly firstProbeMs?: number | undefined;
  /** @defaultValue 60 000 */
  readonly longestProbeMs?: number | undefined;
}

/** Defaults of `circuit`. */
export const circuitDefaults = {
  openAfter: 10,
  firstProbeMs: 1_000,
  longestProbeMs: 60_000,
} as const;

/** The table of defaults; the rest is `null` (unset) or computed. */
export const drainDefaults = {
  useClaimLeases: true,
  leaseDurationMs: 60_000,
  batchSize: 100,
  maxBatchBytes: 32 * 1024 * 1024,
  emitConcurrency: 10,
  emitTimeoutMs: 30_000,
  maxRetryAttempts: 20,
  deadLetterOnMaxRetryAttempts: true,
  deadLetterReasonCode: "outbox.max_retry_attempts_exceeded",
  retryDelayMs: 1_000,
  maxRetryDelayMs: 600_000,
  deferredDelayMs: 60_000,
  pollIntervalMs: 1_000,
  maxUnfinalized: 10_000,
} as const;

/** `retryForMs` where counters are only upper bounds, in ms. */
export const retryForMsWithoutCounters = 24 * 60 * 60 * 1_000;

/** A provider's retryAfter is not believed beyond this, in ms. */
export const longestRetryAfterMs = 24 * 60 * 60 * 1_000;
