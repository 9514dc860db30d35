import { StoreError } from "../errors/store-error.js";
import type { Timing } from "../timing/timing.js";

/**
 * Waits for the store's answer, but not for ever: a connection into a black hole, without a timeout
 * of its own, must not hold up a drain. No answer is an unknown outcome.
 */
export async function storeAnswer<Answer>(
  operation: string,
  call: Promise<Answer>,
  withinMs: number,
  timing: Timing,
): Promise<Answer> {
  const answered = new AbortController();
  const silence = timing.sleep(withinMs, answered.signal).then(() => {
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
  }
}
