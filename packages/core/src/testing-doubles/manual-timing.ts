import type { Timing } from "../timing/timing.js";

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Where every wall clock begins: 2026-01-01, in ms since 1970. */
const beginning = Date.UTC(2026, 0, 1);

/** Clocks that a test moves. Sleepers wake in order, and everything settles between two of them. */
export class ManualTiming implements Timing {
  #monotonicMs = 1_000;
  #suspendedMs = 0;
  #wallStepMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  monotonic(): number {
    return this.#monotonicMs;
  }

  wall(): number {
    return this.storeNow() + this.#wallStepMs;
  }

  /** The store's clock: true time, which neither a step nor a suspension of this process bends. */
  readonly storeNow = (): number => beginning + this.#monotonicMs + this.#suspendedMs;

  /** How many sleeps are under way. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!(ms > 0) || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper = { dueMs: this.#monotonicMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  /** Lets time pass, waking who is due on the way. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#monotonicMs + ms;
    for (;;) {
      await this.settle();
      const next = this.#nextUntil(untilMs);
      if (next === undefined) break;
      this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
      next.wake();
    }
    this.#monotonicMs = untilMs;
  }

  /** Lets time pass until the promise settles. */
  async during<Result>(promise: Promise<Result>, atMostMs = 3_600_000): Promise<Result> {
    let isSettled = false;
    const note = () => {
      isSettled = true;
    };
    promise.then(note, note);
    const untilMs = this.#monotonicMs + atMostMs;
    for (;;) {
      await this.settle();
      if (isSettled) return promise;
      const next = this.#nextUntil(untilMs);
      if (next === undefined) throw new Error(`not settled within ${atMostMs} ms of test time`);
      this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
      next.wake();
    }
  }

  /** Time passes and nobody runs: a blocked event loop. */
  block(ms: number): void {
    this.#monotonicMs += ms;
  }

  /** A suspended machine: only the wall clock and the store's go on. */
  suspend(ms: number): void {
    this.#suspendedMs += ms;
  }

  /** Somebody sets this process's wall clock. */
  stepWall(ms: number): void {
    this.#wallStepMs += ms;
  }

  /** Until nothing more happens without time passing. */
  async settle(): Promise<void> {
    // Two rounds: what the first one's immediates started is through as well.
    for (let round = 0; round < 2; round++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  #nextUntil(untilMs: number): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.dueMs <= untilMs && (next === undefined || sleeper.dueMs < next.dueMs)) {
        next = sleeper;
      }
    }
    return next;
  }
}
