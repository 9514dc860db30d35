/**
 * SQS's clock, as its replies tell it: the Date header, carried forward by this process's monotonic
 * clock. The header has whole seconds, so each reply only says between which two instants the
 * server's clock stood; together they narrow it down. Never goes back.
 */
export class ServerClock {
  readonly #monotonic: () => number;
  #offsetMs: number | null = null;
  #latestMs = 0;

  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Whether a reply has told the time yet. */
  get isSet(): boolean {
    return this.#offsetMs !== null;
  }

  /**
   * Takes in one reply.
   * @param dateHeader - as the reply had it; anything unreadable is ignored
   * @param sentAtMs, receivedAtMs - when it was asked for and came, by the monotonic clock
   */
  note(dateHeader: string | undefined, sentAtMs: number, receivedAtMs: number): void {
    const secondMs = dateHeader === undefined ? Number.NaN : Date.parse(dateHeader);
    if (Number.isNaN(secondMs)) return;
    // When the reply came, that second had begun; when it was asked for, it was not yet over.
    const least = secondMs - receivedAtMs;
    const most = secondMs + 1_000 - sentAtMs;
    this.#offsetMs = Math.min(most, Math.max(least, this.#offsetMs ?? least));
  }

  /** An instant that had come, by SQS's clock, when the reply did; finer than its whole seconds. */
  notePast(instantMs: number, receivedAtMs: number): void {
    if (this.#offsetMs === null) return;
    const finer = Math.max(this.#offsetMs, instantMs - receivedAtMs);
    // Another of SQS's servers said so; ours knows its own second.
    this.#offsetMs = Math.min(finer, this.#offsetMs + 1_000);
  }

  /** SQS's now, in ms since 1970. */
  nowMs(): number {
    this.#latestMs = Math.max(this.#latestMs, this.atMs(this.#monotonic()));
    return this.#latestMs;
  }

  now(): Date {
    return new Date(Math.floor(this.nowMs()));
  }

  /** SQS's time at an instant of the monotonic clock. */
  atMs(monotonicMs: number): number {
    if (this.#offsetMs === null) throw new RangeError("no reply has told SQS's time yet");
    return this.#offsetMs + monotonicMs;
  }

  /** The latest instant of the monotonic clock at which a reply with this header can have been made. */
  latestSendMs(dateHeader: string | undefined): number {
    const secondMs = dateHeader === undefined ? Number.NaN : Date.parse(dateHeader);
    if (Number.isNaN(secondMs) || this.#offsetMs === null) return Number.POSITIVE_INFINITY;
    return secondMs + 1_000 - this.#offsetMs;
  }
}
