import { backoffMs } from "../timing/backoff-ms.js";

/** While something happened this recently, in ms, polls stay frequent. */
const activeForMs = 5_000;

/** Longest poll delay while active, in ms: it also covers a wake-up that was skipped or lost. */
const activePollMs = 100;

const firstContendedDelayMs = 20;

const firstErrorDelayMs = 100;
const longestErrorDelayMs = 30_000;

/** How long to wait before the next claim. */
export class Polling {
  readonly #pollIntervalMs: number;
  #lastActivityMs = Number.NEGATIVE_INFINITY;
  #contendedInARow = 0;

  constructor(pollIntervalMs: number) {
    this.#pollIntervalMs = pollIntervalMs;
  }

  /** Entries were claimed, or a wake-up came. */
  noteActivity(nowMs: number): void {
    this.#lastActivityMs = nowMs;
  }

  afterClaim(more: "none" | "likely" | "contended", count: number, nowMs: number): number {
    if (count > 0) this.noteActivity(nowMs);
    if (count === 0 && more !== "none") {
      // The winners are at work; a moment's distance, not the same for all losers, and growing: who
      // holds the rows may hold them for long.
      this.#contendedInARow += 1;
      return backoffMs(this.#contendedInARow, firstContendedDelayMs, activePollMs);
    }
    this.#contendedInARow = 0;
    if (more !== "none") return 0;
    if (nowMs - this.#lastActivityMs >= activeForMs) return this.#pollIntervalMs;
    return Math.min(activePollMs, this.#pollIntervalMs) * (0.9 + Math.random() * 0.1);
  }

  afterError(failures: number): number {
    const firstMs = Math.min(firstErrorDelayMs, this.#pollIntervalMs);
    return backoffMs(failures, firstMs, longestErrorDelayMs);
  }
}
