import { randomUUID } from "node:crypto";

export interface ReceiveAttempt {
  readonly id: string;
  /** When it was first made, by the monotonic clock. */
  readonly startedAtMs: number;
}

/** How long SQS gives the same messages to the same attempt again, in ms. */
const repeatableForMs = 5 * 60 * 1_000;

/**
 * Ids of receives. One that had no answer is made again under its own id by whatever claims next,
 * and SQS then gives the same messages, which would otherwise be leased to nobody.
 */
export class ReceiveAttempts {
  #unanswered: ReceiveAttempt[] = [];

  next(nowMs: number): ReceiveAttempt {
    const open = this.#unanswered.filter((one) => nowMs - one.startedAtMs < repeatableForMs);
    const [oldest, ...others] = open;
    this.#unanswered = others;
    return oldest ?? { id: randomUUID(), startedAtMs: nowMs };
  }

  /** No answer came to this one. */
  lost(attempt: ReceiveAttempt): void {
    this.#unanswered.push(attempt);
  }
}
