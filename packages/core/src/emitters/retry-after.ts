import { parseHttpDate } from "./http-date.js";

/** Longest wait that a provider can ask for, in ms. */
const maxRetryAfterMs = 24 * 60 * 60 * 1_000;

/**
 * How long a response asks to wait, in ms; `undefined` if it does not, or not intelligibly.
 *
 * A date is taken relative to the response's own `Date`, so that a worker whose clock is off does
 * not matter; without that header it says nothing. Zero and the past say nothing either: to try
 * again at once, over and over, would use up an entry's attempts within seconds.
 */
export function retryAfterMs(headers: { get(name: string): string | null }): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const delayMs = /^\d+$/.test(value)
    ? Number(value) * 1_000
    : (parseHttpDate(value) ?? Number.NaN) -
      (parseHttpDate(headers.get("date") ?? "") ?? Number.NaN);
  return delayMs > 0 ? Math.min(delayMs, maxRetryAfterMs) : undefined;
}
