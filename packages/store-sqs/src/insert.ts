import {
  type InsertedEntry,
  InvalidArgumentError,
  type NewEntry,
  StoreError,
  UnsupportedError,
} from "@outbox/core";
import type { BatchResult } from "./calls/run-batch.js";
import type { OutgoingMessage } from "./calls/send-messages.js";
import { ensureClock } from "./ensure-clock.js";
import { sendInOrder } from "./fifo/send-in-order.js";
import { messageBytes } from "./snapshot/message-attributes.js";
import { outgoingEntry } from "./snapshot/outgoing-entry.js";
import type { StoredEntry } from "./snapshot/snapshot.js";
import type { StoreContext } from "./store-context.js";

/** Kept free in a new message, in bytes: for the counters and instants of its later sends. */
const headroomBytes = 512;

/** An entry with the message that carries it. */
interface Outgoing extends OutgoingMessage {
  readonly entry: NewEntry;
}

/**
 * Sends new entries. A queue has no "all or none": what is refused for its size is found before the
 * first send, and if some cannot be sent for now, an error says how many.
 */
export async function insert(
  context: StoreContext,
  entries: readonly NewEntry[],
): Promise<readonly InsertedEntry[]> {
  const { maxMessageBytes } = await context.checks.pendingForEnqueue();
  await ensureClock(context);
  const outgoing = entries.map((entry) => toOutgoing(context, entry));
  for (const one of outgoing) refuseOversize(one, maxMessageBytes);
  const { calls, queues } = context;
  const results = await sendInOrder(calls, "enqueue", queues.pending, outgoing, maxMessageBytes);
  throwFailures(outgoing, results);
  return entries.map(({ entryId }) => ({ enqueued: true, entryId }));
}

function toOutgoing({ clock, isFifo }: StoreContext, entry: NewEntry): Outgoing {
  const now = clock.now();
  const { available, payload } = entry;
  const delayMs =
    available === null
      ? 0
      : "inMs" in available
        ? available.inMs
        : Math.max(0, available.at.getTime() - clock.nowMs());
  if (isFifo && delayMs > 0) {
    throw new UnsupportedError(
      `entry ${entry.entryId} is to be available later, and a FIFO queue cannot delay a single message; leave availableAt and availableInMs out, or use a standard queue`,
    );
  }
  const availableAt =
    available === null
      ? null
      : "at" in available
        ? available.at
        : new Date(now.getTime() + available.inMs);
  const message = outgoingEntry(
    { generation: 1, entry: newEntry(entry, now, availableAt), payload },
    { isFifo, target: "pending", delayMs, maxBytes: null },
    clock.nowMs(),
  );
  return { ...message, entry };
}

function newEntry(
  { entryId, destination, envelope, payload, metadata, orderingKey }: NewEntry,
  createdAt: Date,
  availableAt: Date | null,
): StoredEntry {
  return {
    entryId,
    destination,
    envelope,
    metadata,
    orderingKey,
    payloadBytes: payload.byteLength,
    status: "pending",
    createdAt,
    updatedAt: createdAt,
    availableAt,
    nextRetryAt: null,
    deliveredAt: null,
    providerMessageId: null,
    deadLetterReason: null,
    retryCount: 0,
    failures: [],
    lastRedrive: null,
    claimAttemptCount: 0,
  };
}

function refuseOversize(
  { body, attributes, entry }: Outgoing,
  maxMessageBytes: number | null,
): void {
  const bytes = messageBytes(body, attributes);
  if (maxMessageBytes === null || bytes + headroomBytes <= maxMessageBytes) return;
  throw new InvalidArgumentError(
    "payload",
    `of envelope ${entry.envelope.envelopeId} makes a message of ${bytes} bytes, and the queue takes ${maxMessageBytes} (${headroomBytes} of them are kept free); store the payload elsewhere and enqueue a reference to it`,
  );
}

function throwFailures(
  outgoing: readonly Outgoing[],
  results: ReadonlyMap<Outgoing, BatchResult>,
): void {
  const unsent = outgoing.filter((one) => results.get(one)?.kind !== "done");
  const first = unsent.map((one) => results.get(one)).find((result) => result !== undefined);
  if (first === undefined) return;
  const ids = unsent.slice(0, 10).map(({ entry }) => entry.envelope.envelopeId);
  const which = `${unsent.length} of ${outgoing.length} entries were not, or not for certain, sent: envelopes ${ids.join(", ")}${unsent.length > ids.length ? ", …" : ""}; enqueue them again under the same envelopeId`;
  if (first.kind === "open") {
    const { kind, message, cause } = first.error;
    throw new StoreError("enqueue", kind, `${message}; ${which}`, cause);
  }
  const problem = first.kind === "done" ? "" : first.message;
  throw new StoreError("enqueue", "invalid-data", `sqs store: ${problem}; ${which}`, undefined);
}
