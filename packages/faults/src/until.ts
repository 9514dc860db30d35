import { setTimeout as delay } from "node:timers/promises";

export interface UntilOptions {
  /** What is waited for, for the error. */
  readonly what: string;
  /** Gives up after this long, in ms. @defaultValue 30 000 */
  readonly withinMs?: number | undefined;
  /** Between two looks, in ms. @defaultValue 20 */
  readonly everyMs?: number | undefined;
}

/**
 * Looks again and again until the condition holds.
 *
 * @throws Error naming `what`, when the time is up
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what, withinMs = 30_000, everyMs = 20 }: UntilOptions,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(everyMs);
  }
}
