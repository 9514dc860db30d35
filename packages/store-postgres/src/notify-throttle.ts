/**
 * How often the producers of this store notify. NOTIFY makes the commits of a whole cluster queue
 * up behind each other, so it is worth at most one wake-up in a while: a worker that is awake looks
 * again by itself.
 */
export class NotifyThrottle {
  readonly #intervalMs: number;
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number, now: () => number = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Whether to notify now; counts as having done so. */
  take(): boolean {
    const now = this.#now();
    if (now - this.#last < this.#intervalMs) return false;
    this.#last = now;
    return true;
  }
}
