import type { EmissionError } from "../contract/emission-result.js";
import type { EmissionStatus } from "../contract/emission-status.js";
import type { EntryFailure, OutboxEntry } from "../contract/outbox-entry.js";
import type { DeliveredResult } from "../contract/outbox-store.js";
import type { Due, TransitionKind, TransitionWrite } from "../contract/transition.js";
import { maxCodeLength, storableText } from "./storable-text.js";

/** How many failures an entry remembers. */
export const maxFailures = 5;

/** The entry state machine, part one: what each transition writes. Part two is `applyTransition`. */
export function deliveredWrite(entry: OutboxEntry, result: DeliveredResult = {}): TransitionWrite {
  return {
    ...unchanged(entry),
    kind: "delivered",
    status: "delivered",
    due: null,
    deadLetterReason: null,
    providerMessageId:
      result.providerMessageId === undefined
        ? null
        : storableText(result.providerMessageId, maxCodeLength),
  };
}

/** `retryable-failure` if a retry time is given or the error says so, else parked. */
export function failedWrite(
  entry: OutboxEntry,
  error: EmissionError,
  retry: Due | null,
  at: Date,
): TransitionWrite {
  const kind = retry !== null || error.isRetryable ? "retryable-failure" : "failed";
  return {
    ...unchanged(entry),
    kind,
    status: kind,
    retryCount: entry.retryCount + 1,
    failures: withFailure(entry.failures, error, at),
    due: retry,
  };
}

/** Postponed; an error that explains it is remembered, but counts nothing. */
export function deferredWrite(
  entry: OutboxEntry,
  due: Due,
  error: EmissionError | null,
  at: Date,
): TransitionWrite {
  return {
    ...unchanged(entry),
    kind: "deferred",
    status: "deferred",
    failures: error === null ? entry.failures : withFailure(entry.failures, error, at),
    due,
  };
}

export function deadLetteredWrite(
  entry: OutboxEntry,
  error: EmissionError,
  reason: string,
  countsFailure: boolean,
  at: Date,
): TransitionWrite {
  return {
    ...unchanged(entry),
    kind: "dead-lettered",
    status: "dead-lettered",
    retryCount: entry.retryCount + (countsFailure ? 1 : 0),
    failures: withFailure(entry.failures, error, at),
    due: null,
    deadLetterReason: storableText(reason),
  };
}

/** Back unemitted, at the old due time or after a delay. Counts nothing. */
export function releaseWrite(entry: OutboxEntry, delayMs: number | null): TransitionWrite {
  return {
    ...unchanged(entry),
    kind: "release",
    due: delayMs === null ? null : { inMs: delayMs },
  };
}

/** Statuses that a saved entry may have: those of the drain's own making that are still open. */
export const savableStatuses = [
  "pending",
  "deferred",
  "retryable-failure",
] as const satisfies readonly EmissionStatus[];

/** What `save` and `saveClaim` write of `next`; its status must be one of `savableStatuses`. */
export function savedWrite(read: OutboxEntry, next: OutboxEntry): TransitionWrite {
  // A pending entry without availableAt is due since it was created; null would keep the old one.
  const dueAt = next.status === "pending" ? (next.availableAt ?? read.createdAt) : next.nextRetryAt;
  return {
    ...unchanged(read),
    kind: next.status,
    status: next.status,
    failures: next.failures.slice(-maxFailures).map((failure) => ({
      at: failure.at,
      code: storableText(failure.code, maxCodeLength),
      message: storableText(failure.message),
    })),
    metadata: next.metadata,
    due: dueAt === null ? null : { at: dueAt },
  };
}

/**
 * The same write with every text replaced that a store might refuse: the last resort, so that an
 * entry never becomes unfinalizable for the words about it.
 */
export function withoutTexts(
  write: TransitionWrite,
  entry: OutboxEntry,
  cause: string,
): TransitionWrite {
  // ASCII only: the cause may quote the very character that was refused.
  const quoted = storableText(cause, 200).replace(/[^\x20-\x7e]/g, "?");
  const replaced = `(text refused by the store: ${quoted})`;
  return {
    ...write,
    failures: write.failures.map((failure) => ({
      at: failure.at,
      code: "outbox.unstorable_text",
      message: replaced,
    })),
    metadata: entry.metadata,
    deadLetterReason: write.deadLetterReason === null ? null : replaced,
    providerMessageId: null,
  };
}

type Unchanged = Omit<TransitionWrite, "due"> & { readonly kind: TransitionKind };

function unchanged(entry: OutboxEntry): Unchanged {
  return {
    kind: entry.status,
    status: entry.status,
    retryCount: entry.retryCount,
    failures: entry.failures,
    metadata: entry.metadata,
    deadLetterReason: entry.deadLetterReason,
    providerMessageId: entry.providerMessageId,
  };
}

function withFailure(
  failures: readonly EntryFailure[],
  error: EmissionError,
  at: Date,
): readonly EntryFailure[] {
  const failure = {
    at,
    code: storableText(error.code, maxCodeLength),
    message: storableText(error.message),
  };
  return [...failures, failure].slice(-maxFailures);
}
