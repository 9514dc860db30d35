import { OutboxError } from "./outbox-error.js";

/**
 * The handle given as `tx` is not an open transaction, so the entry would be committed although
 * the business transaction rolled back. Nothing was written. `outbox.not_a_transaction`
 */
export class NotATransactionError extends OutboxError {
  override readonly name = "NotATransactionError";

  constructor(reason: string, options?: { readonly cause?: unknown }) {
    super("outbox.not_a_transaction", reason, options);
  }

  static override isInstance(value: unknown): value is NotATransactionError {
    return OutboxError.isInstance(value) && value.code === "outbox.not_a_transaction";
  }
}
