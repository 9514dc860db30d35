import { StoreError } from "../errors/store-error.js";
import type { Timing } from "../timing/timing.js";

/**
 * Waits for a store's answers, but not for ever: a connection into a black hole, without a timeout
 * of its own, must not hold up a drain. No answer is an unknown outcome.
 */
export class StoreAnswers {
  readonly #timing: Timing;
  readonly #pending = new Set<AbortController>();
  #hasEnded = false;

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  async within<Answer>(
    withinMs: number,
    operation: string,
    call: Promise<Answer>,
  ): Promise<Answer> {
    if (this.#hasEnded) return call;
    const answered = new AbortController();
    this.#pending.add(answered);
    const silence = this.#timing.sleep(withinMs, answered.signal).then(() => {
      if (answered.signal.aborted) return call;
      throw new StoreError(
        operation,
        "unknown-outcome",
        `${operation}: the store did not answer within ${withinMs} ms; give its connections a timeout`,
        undefined,
      );
    });
    try {
      return await Promise.race([call, silence]);
    } finally {
      answered.abort();
      this.#pending.delete(answered);
    }
  }

  /** Nobody waits any more, so no timer has to run; an answer that still comes is still passed on. */
  end(): void {
    this.#hasEnded = true;
    for (const answered of this.#pending) answered.abort();
  }
}
