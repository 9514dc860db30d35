/** How fast emissions are, as far as past ones tell: what a claim may bring without being released. */
export class EmissionPace {
  readonly #options: {
    readonly emitConcurrency: number;
    readonly leaseDurationMs: number;
  };
  #averageMs: number | null = null;

  constructor(options: { readonly emitConcurrency: number; readonly leaseDurationMs: number }) {
    this.#options = options;
  }

  note(durationMs: number): void {
    this.#averageMs =
      this.#averageMs === null ? durationMs : this.#averageMs + (durationMs - this.#averageMs) / 8;
  }

  /** As many as a third of a lease lets us finish; at least one. */
  get affordable(): number {
    if (this.#averageMs === null || this.#averageMs <= 0) return Number.POSITIVE_INFINITY;
    const { emitConcurrency, leaseDurationMs } = this.#options;
    return Math.ceil((emitConcurrency * leaseDurationMs) / 3 / this.#averageMs);
  }
}
