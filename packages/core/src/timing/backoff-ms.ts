/** Doubling from `firstMs` to `mostMs`, half of it random, so that workers do not come back together. */
export function backoffMs(failures: number, firstMs: number, mostMs: number): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (Math.random() * full) / 2;
}
