import { OutboxError } from "./outbox-error.js";

/** Thrown by an emitter to park the entry (`failed`) instead of trying again. `outbox.emission_not_retryable` unless another code is given */
export class NonRetryableEmissionError extends OutboxError {
  override readonly name = "NonRetryableEmissionError";

  constructor(message: string, options?: { readonly code?: string; readonly cause?: unknown }) {
    super(options?.code ?? "outbox.emission_not_retryable", message, options);
    Object.defineProperty(this, nonRetryable, { value: true });
  }

  static override isInstance(value: unknown): value is NonRetryableEmissionError {
    return OutboxError.isInstance(value) && nonRetryable in value;
  }
}

const nonRetryable = Symbol.for("@outbox/error/non-retryable-emission");
