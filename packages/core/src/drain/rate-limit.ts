/** Emissions per second on average, and how many may come at once. */
export interface RateLimit {
  readonly perSecond: number;
  /** @defaultValue `perSecond`, at least 1 */
  readonly burst?: number | undefined;
}

/** A token bucket. */
export class RateLimiter {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs: number;

  constructor({ perSecond, burst }: RateLimit, nowMs: number) {
    this.#perMs = perSecond / 1_000;
    this.#burst = burst ?? Math.max(1, perSecond);
    this.#tokens = this.#burst;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token and returns 0, or returns how long until there is one, in ms. */
  take(nowMs: number): number {
    const waitMs = this.waitMs(nowMs);
    if (waitMs === 0) this.#tokens -= 1;
    return waitMs;
  }

  /** How long until there is a token, in ms. */
  waitMs(nowMs: number): number {
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#filledAtMs) * this.#perMs);
    this.#filledAtMs = nowMs;
    // Whole ms, at least one: a rounding error is no time to sleep for.
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }
}
