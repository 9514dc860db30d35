import { getEventListeners } from "node:events";
import type { ProcessResources } from "./worker-messages.js";

/** Every how many-th signal is kept for a look at its listeners. */
const sampleEvery = 100;

/** Watches what this process holds. */
export class ResourceWatch {
  readonly #signals: AbortSignal[] = [];
  readonly #warnings: string[] = [];
  #signalCount = 0;

  constructor() {
    process.on("warning", ({ name }) => this.#warnings.push(name));
  }

  /** To be called with the signal of each emission. */
  note(signal: AbortSignal): void {
    if (this.#signalCount++ % sampleEvery === 0) this.#signals.push(signal);
  }

  measure(): ProcessResources {
    globalThis.gc?.();
    const active: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) active[kind] = (active[kind] ?? 0) + 1;
    return {
      heapUsedBytes: process.memoryUsage().heapUsed,
      active,
      signalListeners: this.#signals.reduce(
        (sum, signal) => sum + getEventListeners(signal, "abort").length,
        0,
      ),
      processListeners: process
        .eventNames()
        .reduce((sum, name) => sum + process.listenerCount(name), 0),
      warnings: this.#warnings,
    };
  }
}
