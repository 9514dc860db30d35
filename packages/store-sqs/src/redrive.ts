import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import {
  decodePayload,
  type EntryRedrive,
  type OutboxEntry,
  type RedriveDriver,
  type StoreError,
} from "@outbox/core";
import { deleteMessages } from "./calls/delete-messages.js";
import { explainedError } from "./calls/explained-error.js";
import { largestBatch } from "./calls/run-batch.js";
import { giveBack } from "./calls/visibility.js";
import { ensureClock } from "./ensure-clock.js";
import { sendInOrder } from "./fifo/send-in-order.js";
import { matchesFilter } from "./matches-filter.js";
import {
  neededAttributes,
  type ReceivedEntry,
  type ReceivedMessage,
  toReceivedMessage,
} from "./received-message.js";
import { outgoingEntry } from "./snapshot/outgoing-entry.js";
import { readSnapshot } from "./snapshot/read-snapshot.js";
import type { StoreContext } from "./store-context.js";

const operation = "redrive";

/** How long the dead-letter queue's messages are held while it is looked through, in seconds. */
const holdSeconds = 900;

/** Entries that are sent at a time, in the order of their creation. */
const chunkSize = 500;

/** A message that is given back in the end. */
type Held = Pick<ReceivedMessage, "receiptHandle">;

/** Which parked and dead-lettered entries to redrive. */
export interface DeadLetterSelection {
  /** Every parked or dead-lettered entry is shown to it. @defaultValue all of them */
  readonly where?: ((entry: OutboxEntry) => boolean) | undefined;
  /** At most so many. @defaultValue no limit */
  readonly maxCount?: number | undefined;
  readonly by?: string | null | undefined;
  readonly reason?: string | null | undefined;
  /** Count, and give everything back. @defaultValue false */
  readonly dryRun?: boolean | undefined;
}

export function createRedrive(context: StoreContext): RedriveDriver {
  return {
    redrive: (filter, { by, reason, dryRun }) =>
      redriveDeadLetters(context, {
        where: (entry) => matchesFilter(filter, entry),
        by,
        reason,
        dryRun,
      }),
  };
}

/**
 * Looks through the dead-letter queue: what matches is sent to the pending queue as a new send of
 * its entry and then deleted here; everything else is given back once all was seen.
 */
export async function redriveDeadLetters(
  context: StoreContext,
  selection: DeadLetterSelection,
): Promise<{ readonly count: number }> {
  const { where = () => true, maxCount = Number.POSITIVE_INFINITY, dryRun = false } = selection;
  await ensureClock(context);
  const seen = new Set<string>();
  const others: Held[] = [];
  let chosen: ReceivedEntry[] = [];
  let count = 0;
  try {
    while (count < maxCount) {
      const messages = await receiveDeadLetters(context);
      const unseen = messages.filter(({ messageId }) => !seen.has(messageId));
      others.push(...messages.filter(({ messageId }) => seen.has(messageId)));
      if (unseen.length === 0) break;
      for (const message of unseen) {
        seen.add(message.messageId);
        const entry = redrivable(message);
        const isWanted = entry !== null && count < maxCount && where(toEntry(entry));
        if (isWanted) count += 1;
        if (isWanted && !dryRun) chosen.push(entry);
        else others.push(message);
      }
      if (chosen.length >= chunkSize) {
        const chunk = chosen;
        chosen = [];
        await sendAgain(context, chunk, selection, others);
      }
    }
    await sendAgain(context, chosen, selection, others);
    chosen = [];
  } finally {
    await giveBack(context.calls, context.queues.deadLetter, [...chosen, ...others]);
  }
  return { count };
}

async function receiveDeadLetters({
  calls,
  queues,
}: StoreContext): Promise<readonly ReceivedMessage[]> {
  const waitMs = 1_000;
  const command = new ReceiveMessageCommand({
    QueueUrl: queues.deadLetter,
    MaxNumberOfMessages: largestBatch,
    VisibilityTimeout: holdSeconds,
    // Asks every server of the queue.
    WaitTimeSeconds: waitMs / 1_000,
    MessageSystemAttributeNames: [...neededAttributes],
    MessageAttributeNames: ["All"],
  });
  const { output, sentAtMs } = await calls.receive(command, waitMs).catch((error: unknown) => {
    throw explainedError(operation, error);
  });
  const lease = { leasedAtMs: sentAtMs, leaseDurationMs: holdSeconds * 1_000 };
  return (output.Messages ?? []).map((message) => toReceivedMessage(message, lease));
}

function redrivable(message: ReceivedMessage): ReceivedEntry | null {
  const read = readSnapshot(message.body);
  if (read.kind !== "snapshot") return null;
  const { status } = read.snapshot.entry;
  const isOver = status === "failed" || status === "dead-lettered";
  return isOver ? { ...message, snapshot: read.snapshot } : null;
}

/** What could not be sent is given back with the others, and the error thrown. */
async function sendAgain(
  context: StoreContext,
  chosen: readonly ReceivedEntry[],
  { by = null, reason = null }: DeadLetterSelection,
  others: Held[],
): Promise<void> {
  if (chosen.length === 0) return;
  const { calls, queues, checks, clock } = context;
  const redrive: EntryRedrive = { at: clock.now(), by, reason };
  const maxBytes = await checks.maxMessageBytes("pending");
  const outgoing = [...chosen]
    .sort((one, other) => createdAtMs(one) - createdAtMs(other))
    .map((received) => ({ ...redriven(context, received, redrive, maxBytes), received }));
  const results = await sendInOrder(calls, operation, queues.pending, outgoing, maxBytes);
  const sent = outgoing.filter((one) => results.get(one)?.kind === "done");
  const unsent = outgoing.filter((one) => results.get(one)?.kind !== "done");
  others.push(...unsent.map(({ received }) => received));
  // One that cannot be deleted is redriven again: a copy, not a loss.
  await deleteMessages(
    calls,
    operation,
    queues.deadLetter,
    sent.map(({ received }) => received),
  );
  const error = firstError(unsent.map((one) => results.get(one)));
  if (error !== null) throw error;
}

function redriven(
  { isFifo, clock }: StoreContext,
  { snapshot }: ReceivedEntry,
  lastRedrive: EntryRedrive,
  maxBytes: number | null,
) {
  const { generation, entry, payload } = snapshot;
  return outgoingEntry(
    {
      generation: generation + 1,
      payload,
      entry: {
        ...entry,
        status: "pending",
        updatedAt: lastRedrive.at,
        // Due now, not at its place of long ago: it must not overtake what waited all the time.
        availableAt: lastRedrive.at,
        nextRetryAt: null,
        deadLetterReason: null,
        retryCount: 0,
        lastRedrive,
      },
    },
    { isFifo, target: "pending", delayMs: 0, maxBytes },
    clock.nowMs(),
  );
}

function toEntry({ snapshot }: ReceivedEntry): OutboxEntry {
  const { entry, payload } = snapshot;
  return {
    ...entry,
    envelope: { ...entry.envelope, payload: decodePayload(payload) },
    claimOwner: null,
    claimToken: null,
    claimedAt: null,
    claimExpiresAt: null,
    abandonedClaimCount: 0,
    soloClaim: false,
    soloAbandonedCount: 0,
    resolvedClaimToken: null,
    resolvedTransition: null,
  };
}

function createdAtMs({ snapshot }: ReceivedEntry): number {
  return snapshot.entry.createdAt.getTime();
}

function firstError(
  results: readonly ({ readonly kind: string } | undefined)[],
): StoreError | Error | null {
  for (const result of results) {
    if (result === undefined) continue;
    if ("error" in result) return result.error as StoreError;
    if ("message" in result) return explainedError(operation, new Error(String(result.message)));
  }
  return null;
}
