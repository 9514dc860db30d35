import type { OutboxLogger } from "../drain/outbox-logger.js";
import { storableText } from "../entry/storable-text.js";

/** Whether the store answers, with one log line per change. */
export class StoreStatus {
  readonly #logger: OutboxLogger;
  readonly #workerId: string;
  consecutiveFailures = 0;
  lastError: string | null = null;

  constructor(logger: OutboxLogger, workerId: string) {
    this.#logger = logger;
    this.#workerId = workerId;
  }

  get isFailing(): boolean {
    return this.consecutiveFailures > 0;
  }

  failed(error: unknown): void {
    this.consecutiveFailures += 1;
    this.lastError = storableText(error instanceof Error ? error.message : error);
    if (this.consecutiveFailures > 1) return;
    guarded(() =>
      this.#logger.error("outbox store is failing; the worker keeps trying with backoff", {
        workerId: this.#workerId,
        error: this.lastError,
      }),
    );
  }

  /** Returns whether that was news. */
  answered(): boolean {
    if (!this.isFailing) return false;
    const failures = this.consecutiveFailures;
    this.consecutiveFailures = 0;
    guarded(() =>
      this.#logger.info("outbox store answers again", { workerId: this.#workerId, failures }),
    );
    return true;
  }
}

/** A throwing logger changes nothing. */
export function guarded(log: () => void): void {
  try {
    log();
  } catch {
    // Where should it be reported? The logger is what failed.
  }
}
