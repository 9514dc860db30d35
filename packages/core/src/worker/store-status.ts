import { callGuarded } from "../drain/call-guarded.js";
import type { OutboxLogger } from "../drain/outbox-logger.js";
import { storableText } from "../entry/storable-text.js";
import type { Timing } from "../timing/timing.js";

/** What a worker asks of its store. One kind can fail while the others work. */
export type StoreOperation = "claim" | "complete" | "renew";

interface Failing {
  readonly sinceMs: number;
  failures: number;
}

/** Whether the store answers, with one log line per change. */
export class StoreStatus {
  readonly #logger: OutboxLogger;
  readonly #workerId: string;
  readonly #timing: Timing;
  readonly #failing = new Map<StoreOperation, Failing>();
  /** Since the store last worked as a whole. */
  #failures = 0;
  lastError: string | null = null;

  constructor(logger: OutboxLogger, workerId: string, timing: Timing) {
    this.#logger = logger;
    this.#workerId = workerId;
    this.#timing = timing;
  }

  get isFailing(): boolean {
    return this.#failing.size > 0;
  }

  /** Failures since the store last worked as a whole. */
  get consecutiveFailures(): number {
    return this.#failures;
  }

  /** How long the store, or one operation of it, has been failing, in ms. */
  get failingForMs(): number {
    const since = [...this.#failing.values()].map(({ sinceMs }) => sinceMs);
    return since.length === 0 ? 0 : this.#timing.monotonic() - Math.min(...since);
  }

  failuresOf(operation: StoreOperation): number {
    return this.#failing.get(operation)?.failures ?? 0;
  }

  failed(operation: StoreOperation, error: unknown): void {
    const wasFailing = this.isFailing;
    const failing = this.#failing.get(operation) ?? {
      sinceMs: this.#timing.monotonic(),
      failures: 0,
    };
    failing.failures += 1;
    this.#failing.set(operation, failing);
    this.#failures += 1;
    this.lastError = storableText(error);
    if (wasFailing) return;
    callGuarded(() =>
      this.#logger.error("outbox store is failing; the worker keeps trying with backoff", {
        workerId: this.#workerId,
        operation,
        error: this.lastError,
      }),
    );
  }

  /** Returns whether that was news. */
  answered(operation: StoreOperation): boolean {
    if (!this.#failing.delete(operation)) return false;
    if (this.isFailing) return true;
    const failures = this.#failures;
    this.#failures = 0;
    callGuarded(() =>
      this.#logger.info("outbox store answers again", { workerId: this.#workerId, failures }),
    );
    return true;
  }

  /** A new run begins with nothing to repeat. */
  reset(): void {
    this.#failing.clear();
    this.#failures = 0;
  }
}
