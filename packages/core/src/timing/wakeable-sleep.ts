import type { Timing } from "./timing.js";

/** A sleep that a ring ends; a ring while awake makes the next sleep return at once. For one sleeper. */
export class WakeableSleep {
  readonly #timing: Timing;
  #rung = false;
  #controller: AbortController | null = null;

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  ring(): void {
    this.#rung = true;
    this.#controller?.abort();
  }

  /** Forgets a ring that came before now. */
  reset(): void {
    this.#rung = false;
  }

  async sleep(ms: number): Promise<void> {
    if (!this.#rung && ms > 0) {
      this.#controller = new AbortController();
      await this.#timing.sleep(ms, this.#controller.signal);
      this.#controller = null;
    }
    this.#rung = false;
  }
}
