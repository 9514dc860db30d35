/**
 * Delay before the next try after `failures` failures, in ms: a fixed part, and a random part that
 * doubles with each failure up to a bound. The fixed part keeps the first retry from being at once,
 * the random one keeps the losers of one outage from coming back together.
 */
export function retryDelayMs(
  failures: number,
  options: { readonly retryDelayMs: number; readonly maxRetryDelayMs: number },
  random: () => number = Math.random,
): number {
  const spread = Math.min(options.maxRetryDelayMs, options.retryDelayMs * 2 ** (failures - 1));
  return Math.round(options.retryDelayMs + random() * spread);
}
