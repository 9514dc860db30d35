import { OutboxError } from "./outbox-error.js";

/** Something was used after `close()`. `outbox.closed` */
export class ClosedError extends OutboxError {
  override readonly name = "ClosedError";

  constructor(what: string) {
    super("outbox.closed", `${what} is closed; create a new one instead of using it after close()`);
  }

  static override isInstance(value: unknown): value is ClosedError {
    return OutboxError.isInstance(value) && value.code === "outbox.closed";
  }
}
