import { applyTransition, type OutboxEntry } from "@outbox/core";
import { deleteMessages } from "./calls/delete-messages.js";
import { changeVisibility, giveBack } from "./calls/visibility.js";
import { parkedGroupId } from "./fifo/fifo-id.js";
import { type Move, moveMessages } from "./move-messages.js";
import { claimTokenOf, type ReceivedEntry, type ReceivedMessage } from "./received-message.js";
import { isNearRetention } from "./retention-near.js";
import { outgoingEntry } from "./snapshot/outgoing-entry.js";
import { readSnapshot } from "./snapshot/read-snapshot.js";
import type { StoredEntry } from "./snapshot/snapshot.js";
import type { StoreContext } from "./store-context.js";
import { unusableMessage } from "./unusable-message.js";

const operation = "claim";

/** How long what this worker cannot read is left to others, in seconds. */
const newerVersionDelaySeconds = 60;

/** What becomes of one received message before anybody may claim it. */
type Fate =
  | { readonly kind: "entry"; readonly entry: ReceivedEntry }
  | { readonly kind: "move"; readonly move: Move }
  | { readonly kind: "delete" | "postpone" };

/**
 * Sorts out what was received: what is not due travels on, what a newer copy replaced is deleted,
 * what is no entry is dead-lettered as it is, what a later version wrote is left to others.
 */
export async function admit(
  context: StoreContext,
  messages: readonly ReceivedMessage[],
): Promise<readonly ReceivedEntry[]> {
  const fates = await Promise.all(
    messages.map(async (message) => ({ message, fate: await fateOf(context, message) })),
  );
  const having = (kind: Fate["kind"]) =>
    fates.filter(({ fate }) => fate.kind === kind).map(({ message }) => message);
  const { calls, queues } = context;
  // What does not succeed here is received again when its lease is over.
  await Promise.all([
    moveMessages(
      context,
      operation,
      fates.flatMap(({ fate }) => (fate.kind === "move" ? [fate.move] : [])),
    ),
    deleteMessages(calls, operation, queues.pending, having("delete")),
    changeVisibility(
      calls,
      operation,
      queues.pending,
      having("postpone").map(({ receiptHandle }) => ({
        receiptHandle,
        seconds: newerVersionDelaySeconds,
      })),
    ),
  ]);
  const entries = fates.flatMap(({ fate }) => (fate.kind === "entry" ? [fate.entry] : []));
  return withoutGroupsOf(context, entries, having("postpone"));
}

async function fateOf(context: StoreContext, message: ReceivedMessage): Promise<Fate> {
  const read = readSnapshot(message.body);
  if (read.kind === "newer") return { kind: "postpone" };
  if (read.kind === "unusable") {
    return { kind: "move", move: await moveOfUnusable(context, message, read.problem) };
  }
  const { snapshot } = read;
  const { entryId } = snapshot.entry;
  const { body: _, attributes: __, ...lease } = message;
  const received = { ...lease, snapshot };
  if (context.finished.isSuperseded(entryId, snapshot.generation)) return { kind: "delete" };
  const remaining =
    snapshot.notBefore === null ? 0 : snapshot.notBefore.getTime() - context.clock.nowMs();
  if (remaining > 0) return { kind: "move", move: await hop(context, received, remaining) };
  const reason = reasonToDeadLetter(context, received);
  return reason === null
    ? { kind: "entry", entry: received }
    : { kind: "move", move: await moveOfDeadLetter(context, received, reason) };
}

/** Not due yet: the wait is longer than one delay of a message. */
async function hop(context: StoreContext, received: ReceivedEntry, delayMs: number): Promise<Move> {
  const { snapshot } = received;
  return moveTo(context, received, "pending", snapshot.entry, delayMs);
}

interface DeadLetterReason {
  readonly code: string;
  readonly message: string;
}

function reasonToDeadLetter(
  context: StoreContext,
  received: ReceivedEntry,
): DeadLetterReason | null {
  if (context.isFifo && isNearRetention(context, received)) {
    return {
      code: "outbox.retention_near",
      message: "SQS would have deleted the message before long, because it keeps its place",
    };
  }
  const { maxReceiveCount, remembered } = context;
  if (maxReceiveCount === null) return null;
  const blamed = received.receiveCount - remembered.blamelessReceives(received.messageId);
  if (blamed <= maxReceiveCount.count || maxReceiveCount.isSuspended()) return null;
  return {
    code: "outbox.max_receive_count_exceeded",
    message: `received ${received.receiveCount} times, and ${blamed} of them were not releases of this worker`,
  };
}

async function moveOfDeadLetter(
  context: StoreContext,
  received: ReceivedEntry,
  reason: DeadLetterReason,
): Promise<Move> {
  const { entry } = received.snapshot;
  const at = context.clock.now();
  const state = context.remembered.stateOf(received.messageId);
  const known = { ...entry, ...state };
  const dead = applyTransition(
    known as OutboxEntry,
    {
      kind: "dead-lettered",
      status: "dead-lettered",
      retryCount: known.retryCount,
      failures: [...known.failures, { at, ...reason }].slice(-5),
      metadata: known.metadata,
      due: null,
      deadLetterReason: reason.code,
      providerMessageId: null,
    },
    at,
    null,
  );
  const claimAttemptCount = entry.claimAttemptCount + received.receiveCount;
  return moveTo(context, received, "deadLetter", { ...dead, claimAttemptCount }, 0);
}

async function moveTo(
  context: StoreContext,
  received: ReceivedEntry,
  target: Move["target"],
  entry: StoredEntry,
  delayMs: number,
): Promise<Move> {
  const { generation, payload } = received.snapshot;
  return {
    claimToken: claimTokenOf(received),
    receiptHandle: received.receiptHandle,
    target,
    replaces: { entryId: entry.entryId, generation },
    holdSeconds: null,
    message: outgoingEntry(
      { generation: generation + 1, entry, payload },
      {
        isFifo: context.isFifo,
        target,
        delayMs,
        maxBytes: await context.checks.maxMessageBytes(target),
      },
      context.clock.nowMs(),
    ),
  };
}

async function moveOfUnusable(
  context: StoreContext,
  message: ReceivedMessage,
  problem: string,
): Promise<Move> {
  const maxBytes = await context.checks.maxMessageBytes("deadLetter");
  return {
    claimToken: `0:${message.receiptHandle}`,
    receiptHandle: message.receiptHandle,
    target: "deadLetter",
    replaces: null,
    holdSeconds: null,
    message: {
      ...unusableMessage(message, problem, maxBytes),
      delaySeconds: 0,
      fifo: context.isFifo
        ? { groupId: parkedGroupId(message.messageId), deduplicationId: message.messageId }
        : null,
    },
  };
}

/** In a group nobody overtakes: what came behind a message that stays is given back. */
async function withoutGroupsOf(
  { isFifo, calls, queues }: StoreContext,
  entries: readonly ReceivedEntry[],
  staying: readonly ReceivedMessage[],
): Promise<readonly ReceivedEntry[]> {
  if (!isFifo || staying.length === 0) return entries;
  const groups = new Set(staying.map(({ groupId }) => groupId));
  const [behind, rest] = [true, false].map((isBehind) =>
    entries.filter(({ groupId }) => groups.has(groupId) === isBehind),
  );
  if (behind !== undefined) await giveBack(calls, queues.pending, behind);
  return rest ?? [];
}
