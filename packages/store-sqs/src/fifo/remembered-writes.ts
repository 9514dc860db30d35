import type { OutboxEntry, TransitionWrite } from "@outbox/core";
import { applyTransition } from "@outbox/core";
import { BoundedMap } from "../bounded-map.js";

/** What of an entry a FIFO queue cannot be told while the message stays in its place. */
export type RememberedState = Pick<
  OutboxEntry,
  "status" | "updatedAt" | "availableAt" | "nextRetryAt" | "retryCount" | "failures" | "metadata"
>;

interface Remembered {
  readonly state: RememberedState | null;
  /** Receives that this process ended without a failure; they say nothing against the entry. */
  readonly blamelessReceives: number;
}

const mostMessages = 20_000;

/**
 * What this process knows of messages that it gave back. A FIFO message keeps its body, so a failure
 * is known only to the worker that saw it; another one sees an entry that never failed.
 */
export class RememberedWrites {
  readonly #byMessageId = new BoundedMap<string, Remembered>(mostMessages);

  stateOf(messageId: string): RememberedState | null {
    return this.#byMessageId.get(messageId)?.state ?? null;
  }

  blamelessReceives(messageId: string): number {
    return this.#byMessageId.get(messageId)?.blamelessReceives ?? 0;
  }

  /** A transition that leaves the message where it is. */
  remember(messageId: string, entry: OutboxEntry, write: TransitionWrite, at: Date): void {
    const { status, updatedAt, availableAt, nextRetryAt, retryCount, failures, metadata } =
      applyTransition(entry, write, at, null);
    this.#byMessageId.set(messageId, {
      state: { status, updatedAt, availableAt, nextRetryAt, retryCount, failures, metadata },
      blamelessReceives:
        this.blamelessReceives(messageId) + (write.kind === "retryable-failure" ? 0 : 1),
    });
  }

  noteReleased(messageId: string): void {
    const { state = null } = this.#byMessageId.get(messageId) ?? {};
    const blamelessReceives = this.blamelessReceives(messageId) + 1;
    this.#byMessageId.set(messageId, { state, blamelessReceives });
  }

  forget(messageId: string): void {
    this.#byMessageId.delete(messageId);
  }
}
