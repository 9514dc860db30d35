import type { Emission } from "./emission.js";

/**
 * Who occupies the `emitConcurrency` slots. An emission that timed out frees its slot, but its call
 * may still be running and counts towards a second set of slots: as long again as its timeout, then
 * it is forgotten, because a call that never ends must not starve everything else for ever.
 */
export class EmissionSlots {
  readonly running = new Set<Emission>();
  readonly #overdue = new Set<Emission>();
  readonly #count: number;
  readonly #emitTimeoutMs: number;

  constructor(options: { readonly emitConcurrency: number; readonly emitTimeoutMs: number }) {
    this.#count = options.emitConcurrency;
    this.#emitTimeoutMs = options.emitTimeoutMs;
  }

  get hasFree(): boolean {
    return this.running.size < this.#count && !this.areExhausted;
  }

  /** So many calls hang that nothing can start before one of them ends or is forgotten. */
  get areExhausted(): boolean {
    return this.running.size + this.#overdue.size >= this.#count * 2;
  }

  get hasOverdue(): boolean {
    return this.#overdue.size > 0;
  }

  end(emission: Emission): void {
    this.running.delete(emission);
    this.#overdue.delete(emission);
  }

  /** Frees the slots of emissions that take too long, and returns those. */
  timeOut(nowMs: number): readonly Emission[] {
    const timedOut = [...this.running].filter(
      ({ startedAtMs }) => nowMs - startedAtMs >= this.#emitTimeoutMs,
    );
    for (const emission of timedOut) {
      this.running.delete(emission);
      this.#overdue.add(emission);
    }
    for (const emission of this.#overdue) {
      if (nowMs - emission.startedAtMs >= this.#emitTimeoutMs * 2) this.#overdue.delete(emission);
    }
    return timedOut;
  }
}
