import type { StoreDriver, StoreErrorKind } from "../contract/store-driver.js";
import { storableText } from "../entry/storable-text.js";
import { ClosedError } from "../errors/closed-error.js";
import { OutboxError } from "../errors/outbox-error.js";
import { StoreError } from "../errors/store-error.js";

/** What may be repeated after which kinds of error. */
export type RepeatRule = "never" | "if-not-applied" | "always";

const maxTries = 8;

/**
 * Calls of one driver, with what is the same for every call: refusal after close, classification
 * of errors, and bounded repetition where it is safe.
 */
export class StoreCalls {
  readonly #driver: StoreDriver<never>;
  #closing: Promise<void> | null = null;
  #warned = false;
  /** How often a call was repeated after a transient error. */
  repeats = 0;

  constructor(driver: StoreDriver<never>) {
    this.#driver = driver;
  }

  async run<Result>(
    operation: string,
    rule: RepeatRule,
    call: () => Promise<Result>,
  ): Promise<Result> {
    this.refuseIfClosed();
    let mayBeApplied = false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (OutboxError.isInstance(error)) throw error;
        let kind = this.#driver.classifyError(error);
        mayBeApplied ||= kind === "unknown-outcome";
        // That this try certainly left nothing behind does not undo an earlier one.
        if (kind === "transient" && mayBeApplied) kind = "unknown-outcome";
        const repeatable =
          rule !== "never" &&
          (kind === "transient" || (kind === "unknown-outcome" && rule === "always"));
        if (!repeatable || attempt === maxTries) throw this.#wrap(operation, kind, error);
        this.repeats += 1;
        this.#warnOnce(operation, error);
        await pause(repeatDelayMs(attempt));
        if (this.#closing !== null) throw this.#wrap(operation, kind, error);
      }
    }
  }

  refuseIfClosed(): void {
    if (this.#closing !== null) throw new ClosedError(`store "${this.#driver.name}"`);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#driver.close();
    await this.#closing;
  }

  #wrap(operation: string, kind: StoreErrorKind, error: unknown): StoreError {
    return new StoreError(
      operation,
      kind,
      `${this.#driver.name} store: ${operation} failed (${kind}): ${storableText(error)}`,
      error,
    );
  }

  #warnOnce(operation: string, error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    process.emitWarning(
      `${operation} is repeated after a transient error (${storableText(error, 300)}). Repetitions of later errors are not reported here; if this happens without a fault, look at the isolation level: READ COMMITTED needs none.`,
      { type: "OutboxWarning", code: "OUTBOX_STORE_REPEATS" },
    );
  }
}

/** Short: the drain has a longer patience of its own. Random, so that losers of a race part. */
function repeatDelayMs(attempt: number): number {
  return Math.random() * Math.min(200, 5 * 2 ** attempt);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
