import type { EmissionError, EmissionResult } from "./emission-result.js";
import type { EnqueueInput, EnqueueOptions, EnqueueResult, EventMap } from "./enqueue-input.js";
import type { OutboxEntry } from "./outbox-entry.js";
import type { ClaimTransition } from "./transition.js";

/** Where a producer writes. Every store has it; `Transaction` is `never` where there is none to join. */
export interface OutboxProducer<Transaction, Events extends EventMap = EventMap> {
  /**
   * Writes one envelope, or several in one statement, into the caller's transaction: rolled back,
   * nothing; committed, one entry per (envelopeId, destination). A second enqueue of a pair reports
   * `enqueued: false` and does not abort the caller's transaction.
   *
   * @throws InvalidArgumentError naming the argument, before anything is written
   * @throws NotATransactionError if `tx` can be told not to be an open transaction
   */
  enqueue(
    input: EnqueueInput<Events>,
    ...options: EnqueueArguments<Transaction>
  ): Promise<EnqueueResult>;
  enqueue(
    inputs: readonly EnqueueInput<Events>[],
    ...options: EnqueueArguments<Transaction>
  ): Promise<readonly EnqueueResult[]>;
}

/** The options argument may be left out only where there is no transaction to forget. */
export type EnqueueArguments<Transaction> = [Transaction] extends [never]
  ? [options?: EnqueueOptions<Transaction>]
  : [options: EnqueueOptions<Transaction>];

/** How a failed emission goes on. Neither given: by `error.isRetryable`, at once or parked. */
export interface RetryOptions {
  /** Due again after this long, by the store's clock, in ms. */
  readonly retryInMs?: number | undefined;
  /** Due again at this instant. Not together with `retryInMs`. */
  readonly nextRetryAt?: Date | undefined;
}

/** Which entries a selection reads. */
export interface FindOptions {
  /** @defaultValue 100 */
  readonly maxCount?: number | undefined;
}

/**
 * Selection without claims: the compatibility path, for one worker or disjoint partitions. Two
 * callers can select the same entry, and both will emit it.
 *
 * The `find` methods leave out live leases and use the store's clock. The `mark` methods and
 * `save` answer `leased` on a live lease and `terminal` on a terminal entry, changing nothing.
 */
export interface OutboxStore<Transaction = unknown, Events extends EventMap = EventMap>
  extends OutboxProducer<Transaction, Events> {
  findByOutboxEntryId(entryId: string): Promise<OutboxEntry | null>;
  /** Due entries of status `pending`, in due order. */
  findPending(options?: FindOptions): Promise<readonly OutboxEntry[]>;
  /** Due entries of status `retryable-failure` or `deferred`, in due order. */
  findRetryReady(options?: FindOptions): Promise<readonly OutboxEntry[]>;
  markDelivered(entryId: string, result?: DeliveredResult): Promise<ClaimTransition>;
  /** `retryable-failure` if a retry time is given or `error.isRetryable`, else `failed` (parked). */
  markFailed(entryId: string, error: EmissionError, retry?: RetryOptions): Promise<ClaimTransition>;
  /** `reason` is stored as `deadLetterReason`. @defaultValue the error's code */
  markDeadLettered(
    entryId: string,
    error: EmissionError,
    reason?: string,
  ): Promise<ClaimTransition>;
  /**
   * Writes `next` over `read`, if status and `updatedAt` are still as read (else
   * `concurrency-lost`) and the state machine allows the move. Writes status, due time, failures
   * and metadata; never envelope, ids, key or counters.
   */
  save(read: OutboxEntry, next: OutboxEntry): Promise<ClaimTransition>;
}

/** What is remembered of a delivery. */
export type DeliveredResult = Omit<Extract<EmissionResult, { status: "delivered" }>, "status">;
