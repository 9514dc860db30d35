const firstMs = 100;
const longestMs = 5_000;

/** Full jitter: throttled callers must not come back together. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(longestMs, firstMs * 2 ** attempt);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
