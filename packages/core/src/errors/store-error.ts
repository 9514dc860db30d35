import type { StoreErrorKind } from "../contract/store-driver.js";
import { OutboxError } from "./outbox-error.js";

/** The database or queue refused or was out of reach; `cause` is the driver's own error. `outbox.store_error` */
export class StoreError extends OutboxError {
  override readonly name = "StoreError";
  readonly operation: string;
  /** What is known about it; see `StoreErrorKind`. */
  readonly kind: StoreErrorKind;

  constructor(operation: string, kind: StoreErrorKind, message: string, cause: unknown) {
    super("outbox.store_error", message, {
      cause,
      isTransient: kind === "transient" || kind === "unknown-outcome",
    });
    this.operation = operation;
    this.kind = kind;
  }

  static override isInstance(value: unknown): value is StoreError {
    return OutboxError.isInstance(value) && value.code === "outbox.store_error";
  }
}
