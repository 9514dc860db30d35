import {
  applyTransition,
  type DriverCompletion,
  type DriverTransition,
  encodePayload,
  type OutboxEntry,
  type StoreError,
  type TransitionKind,
} from "@outbox/core";
import { deleteMessages } from "./calls/delete-messages.js";
import type { BatchResult } from "./calls/run-batch.js";
import { changeVisibility, giveBack } from "./calls/visibility.js";
import { ensureClock } from "./ensure-clock.js";
import { isLeaseOver, visibilitySeconds } from "./lease.js";
import { type Move, moveMessages } from "./move-messages.js";
import { parseClaimToken, type ReceivedEntry } from "./received-message.js";
import { isNearRetention } from "./retention-near.js";
import { outgoingEntry } from "./snapshot/outgoing-entry.js";
import type { StoreContext } from "./store-context.js";

const operation = "complete";

/** How long a message is held while its successor is sent, in ms. */
const holdMs = 60_000;

/** Results by completion; an error is one that must be repeated. */
type Results = Map<DriverCompletion, DriverTransition | { readonly error: StoreError }>;

/** One completion, with what this process knows of its message. */
interface Task {
  readonly completion: DriverCompletion;
  readonly receiptHandle: string;
  readonly generation: number;
  readonly received: ReceivedEntry | undefined;
}

/**
 * Transitions, by kind: what leaves the queue is deleted, what is given back becomes visible, what
 * changes is sent anew. What could not be done for now is thrown once all the rest is done, and a
 * repetition finds that rest finished.
 */
export async function complete(
  context: StoreContext,
  completions: readonly DriverCompletion[],
): Promise<readonly DriverTransition[]> {
  if (completions.length === 0) return [];
  await ensureClock(context);
  const results: Results = new Map();
  const tasks = completions
    .filter((one) => !answerAtOnce(context, one, results))
    .map(toTask(context));
  const ways = { delete: [], move: [], visibility: [] } as Record<Way, Task[]>;
  for (const task of tasks) ways[wayOf(context, task)].push(task);
  await Promise.all([
    deliver(context, ways.delete, results),
    changeVisible(context, ways.visibility, results),
    move(context, ways.move, results),
  ]);
  await settleGroups(context, tasks, results);
  return completions.map((completion) => {
    const result = results.get(completion);
    if (result === undefined) throw new RangeError("every completion has a result");
    if ("error" in result) throw result.error;
    return result;
  });
}

/** A claim that this process finished before, or whose lease is over. */
function answerAtOnce(
  { finished, clock }: StoreContext,
  completion: DriverCompletion,
  results: Results,
): boolean {
  const { claim, write } = completion;
  const before = finished.get(claim.claimToken);
  if (before !== undefined) {
    const isTerminal = before.kind === "delivered" || before.kind === "dead-lettered";
    results.set(
      completion,
      before.kind === write.kind
        ? { outcome: "applied", replayed: true, at: before.at }
        : { outcome: isTerminal ? "terminal" : "stale-claim", at: null },
    );
    return true;
  }
  // A delivered entry is worth a try: a standard queue may still take the delete.
  if (write.kind === "delivered" || !isLeaseOver(claim, clock)) return false;
  // What was sent already is finished all the same.
  if (finished.wasSent(claim.claimToken)) return false;
  results.set(completion, { outcome: "stale-claim", at: null });
  return true;
}

function toTask({ claimed }: StoreContext) {
  return (completion: DriverCompletion): Task => ({
    completion,
    ...parseClaimToken(completion.claim.claimToken),
    received: claimed.get(completion.claim.claimToken),
  });
}

type Way = "delete" | "move" | "visibility";

function wayOf(context: StoreContext, task: Task): Way {
  const { claim, write } = task.completion;
  if (write.kind === "delivered") return "delete";
  if (write.kind === "dead-lettered" || write.kind === "failed") return "move";
  // The message stays in its place, and its group waits.
  if (context.isFifo) return "visibility";
  if (write.kind !== "release") return "move";
  const delayMs = delayMsOf(context, task);
  const fits = visibilitySeconds(claim, delayMs, context.clock) * 1_000 >= delayMs;
  const isOld = task.received !== undefined && isNearRetention(context, task.received);
  return fits && !isOld ? "visibility" : "move";
}

async function deliver(context: StoreContext, tasks: readonly Task[], results: Results) {
  const { calls, queues } = context;
  const deleted = await deleteMessages(calls, operation, queues.pending, tasks);
  for (const task of tasks) settle(context, task, deleted.get(task), results);
}

async function changeVisible(context: StoreContext, tasks: readonly Task[], results: Results) {
  const { calls, queues, clock } = context;
  const changes = tasks.map((task) => ({
    task,
    receiptHandle: task.receiptHandle,
    seconds: visibilitySeconds(task.completion.claim, delayMsOf(context, task), clock),
  }));
  const changed = await changeVisibility(calls, operation, queues.pending, changes);
  for (const change of changes) {
    const { task } = change;
    settle(context, task, changed.get(change), results);
    if (changed.get(change)?.kind === "done") remember(context, task);
  }
}

async function move(context: StoreContext, tasks: readonly Task[], results: Results) {
  if (tasks.length === 0) return;
  const moves = await Promise.all(tasks.map(async (task) => toMove(context, task)));
  const moved = await moveMessages(context, operation, moves);
  for (const [index, task] of tasks.entries()) {
    const one = moves[index];
    const result = one && moved.get(one);
    settle(context, task, result?.kind === "moved" ? { kind: "done" } : result, results);
  }
}

async function toMove(context: StoreContext, task: Task): Promise<Move> {
  const { completion, receiptHandle, generation, received } = task;
  const { claim, write } = completion;
  const target =
    write.status === "failed" || write.status === "dead-lettered" ? "deadLetter" : "pending";
  const entry = applyTransition(claim.entry, write, context.clock.now(), claim.claimToken);
  return {
    claimToken: claim.claimToken,
    receiptHandle,
    target,
    replaces: { entryId: entry.entryId, generation },
    holdSeconds: Math.max(1, visibilitySeconds(claim, holdMs, context.clock)),
    message: outgoingEntry(
      {
        generation: generation + 1,
        entry,
        // Not what the emitter was given, which it may have changed.
        payload: received?.snapshot.payload ?? payloadOf(claim.entry),
      },
      {
        isFifo: context.isFifo,
        target,
        delayMs: target === "pending" ? delayMsOf(context, task) : 0,
        maxBytes: await context.checks.maxMessageBytes(target),
      },
      context.clock.nowMs(),
    ),
  };
}

function settle(
  { finished, clock, claimed }: StoreContext,
  { completion }: Task,
  result: BatchResult | { readonly kind: "stale" } | undefined,
  results: Results,
): void {
  const { claim, write } = completion;
  if (result?.kind === "open") {
    results.set(completion, result);
    return;
  }
  claimed.delete(claim.claimToken);
  if (result?.kind !== "done") {
    results.set(completion, { outcome: "stale-claim", at: null });
    return;
  }
  const at = clock.now();
  finished.finish(claim.claimToken, write.kind, at);
  results.set(completion, { outcome: "applied", at });
}

/** What the queue cannot be told is kept here; a message that is received again is recognised. */
function remember({ remembered, isFifo, clock }: StoreContext, { completion, received }: Task) {
  if (received === undefined) return;
  const { claim, write } = completion;
  if (isFifo && write.kind !== "release") {
    remembered.remember(received.messageId, claim.entry, write, clock.now());
  } else {
    remembered.noteReleased(received.messageId);
  }
}

/** Which transitions take the message out of its group for good. */
const advances: readonly TransitionKind[] = ["delivered", "dead-lettered", "failed"];

/** Lets the next member of a group go, or gives the later ones back, unemitted. */
async function settleGroups(
  { hold, calls, queues }: StoreContext,
  tasks: readonly Task[],
  results: Results,
): Promise<void> {
  if (hold === null) return;
  const givenBack: ReceivedEntry[] = [];
  for (const { completion, received } of tasks) {
    const result = results.get(completion);
    if (received === undefined || received.groupId === null) continue;
    if (result === undefined || "error" in result) continue;
    const { claimToken } = completion.claim;
    if (result.outcome === "applied" && advances.includes(completion.write.kind)) {
      hold.advance(received.groupId, claimToken);
    } else {
      givenBack.push(...hold.drop(received.groupId, claimToken));
    }
  }
  if (givenBack.length > 0) await giveBack(calls, queues.pending, givenBack);
}

function delayMsOf({ clock }: StoreContext, { completion }: Task): number {
  const { due } = completion.write;
  if (due === null) return 0;
  return Math.max(0, "inMs" in due ? due.inMs : due.at.getTime() - clock.nowMs());
}

function payloadOf({ envelope }: OutboxEntry) {
  return encodePayload(envelope.payload, "entry.envelope.payload");
}
