import type { ClaimBatch } from "../contract/claim-request.js";
import { backoffMs } from "../timing/backoff-ms.js";

/** While something happened this recently, in ms, polls stay frequent. */
const activeForMs = 5_000;

/** Longest poll delay while active, in ms: it also covers a wake-up that was skipped or lost. */
const activePollMs = 100;

const firstErrorDelayMs = 100;
const longestErrorDelayMs = 30_000;

/** How long to wait before the next claim. */
export class Polling {
  readonly #pollIntervalMs: number;
  #lastActivityMs = Number.NEGATIVE_INFINITY;

  constructor(pollIntervalMs: number) {
    this.#pollIntervalMs = pollIntervalMs;
  }

  /** Entries were claimed, or a wake-up came. */
  noteActivity(nowMs: number): void {
    this.#lastActivityMs = nowMs;
  }

  afterClaim(more: ClaimBatch["more"], nowMs: number): number {
    if (more === "likely") return 0;
    // The winners are at work; a moment's distance, and not the same for all losers.
    if (more === "contended") return 1 + Math.random() * 20;
    const isActive = nowMs - this.#lastActivityMs < activeForMs;
    const delayMs = isActive ? Math.min(activePollMs, this.#pollIntervalMs) : this.#pollIntervalMs;
    return delayMs * (0.9 + Math.random() * 0.1);
  }

  afterError(consecutive: number): number {
    return backoffMs(consecutive, firstErrorDelayMs, longestErrorDelayMs);
  }
}
