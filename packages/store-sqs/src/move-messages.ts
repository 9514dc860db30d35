import type { StoreError } from "@outbox/core";
import { deleteMessages } from "./calls/delete-messages.js";
import { explainedError } from "./calls/explained-error.js";
import { type OutgoingMessage, sendMessages } from "./calls/send-messages.js";
import { changeVisibility } from "./calls/visibility.js";
import type { StoreContext } from "./store-context.js";

/** A message that is replaced by another, in the same queue or the other one. */
export interface Move {
  readonly claimToken: string;
  readonly receiptHandle: string;
  readonly target: "pending" | "deadLetter";
  readonly message: OutgoingMessage;
  /** Which send of which entry is replaced; `null` for a body that is no entry. */
  readonly replaces: { readonly entryId: string; readonly generation: number } | null;
  /**
   * The visibility timeout to begin with, in whole seconds: it proves that the message is still
   * ours and holds it until it is deleted. `null` where the lease has only just begun.
   */
  readonly holdSeconds: number | null;
}

export type MoveResult =
  | { readonly kind: "moved" }
  /** The message is no longer ours, and nothing was sent. */
  | { readonly kind: "stale" }
  | { readonly kind: "open"; readonly error: StoreError };

/**
 * Holds the old message, sends the new one, deletes the old one, in that order: a crash in between
 * leaves two copies and never none. A repetition goes on where an earlier try stopped, so that it
 * sends nothing twice.
 */
export async function moveMessages(
  context: StoreContext,
  operation: string,
  moves: readonly Move[],
): Promise<ReadonlyMap<Move, MoveResult>> {
  const results = new Map<Move, MoveResult>();
  const unsent = moves.filter(({ claimToken }) => !context.finished.wasSent(claimToken));
  const held = await hold(context, operation, unsent, results);
  await send(context, operation, held, results);
  const sent = moves.filter((move) => !results.has(move));
  const deleted = await deleteMessages(context.calls, operation, context.queues.pending, sent);
  for (const move of sent) {
    const result = deleted.get(move);
    // A handle that is stale by now changes nothing: the new copy is there.
    results.set(move, result?.kind === "open" ? result : { kind: "moved" });
  }
  return results;
}

async function hold(
  { calls, queues }: StoreContext,
  operation: string,
  moves: readonly Move[],
  results: Map<Move, MoveResult>,
): Promise<readonly Move[]> {
  const changes = moves.flatMap((move) =>
    move.holdSeconds === null
      ? []
      : [{ move, receiptHandle: move.receiptHandle, seconds: move.holdSeconds }],
  );
  const changed = await changeVisibility(calls, operation, queues.pending, changes);
  for (const change of changes) {
    const result = changed.get(change);
    if (result?.kind === "open") results.set(change.move, result);
    else if (result?.kind !== "done") results.set(change.move, { kind: "stale" });
  }
  return moves.filter((move) => !results.has(move));
}

async function send(
  context: StoreContext,
  operation: string,
  moves: readonly Move[],
  results: Map<Move, MoveResult>,
): Promise<void> {
  for (const target of ["pending", "deadLetter"] as const) {
    const outgoing = moves
      .filter((move) => move.target === target)
      .map((move) => ({ ...move.message, move }));
    if (outgoing.length === 0) continue;
    const sent = await sendMessages(
      context.calls,
      operation,
      context.queues[target],
      outgoing,
      await context.checks.maxMessageBytes(target),
    );
    for (const one of outgoing) {
      const { move } = one;
      const result = sent.get(one);
      if (result?.kind === "done") {
        const { entryId, generation } = move.replaces ?? {
          entryId: move.claimToken,
          generation: 0,
        };
        context.finished.noteSent(move.claimToken, entryId, generation);
      } else if (result?.kind === "open") {
        results.set(move, result);
      } else {
        const message = result?.message ?? "no reply";
        results.set(move, { kind: "open", error: refusedError(operation, message) });
      }
    }
  }
}

/** Core then tries the entry alone, and with its texts replaced. */
function refusedError(operation: string, message: string): StoreError {
  const error = new Error(message);
  error.name = "InvalidMessageContents";
  return explainedError(operation, error) as StoreError;
}
