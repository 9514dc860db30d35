import { OutboxError } from "./outbox-error.js";

/** This store cannot do what was asked; its capabilities say so. `outbox.unsupported` */
export class UnsupportedError extends OutboxError {
  override readonly name = "UnsupportedError";

  constructor(message: string) {
    super("outbox.unsupported", message);
  }

  static override isInstance(value: unknown): value is UnsupportedError {
    return OutboxError.isInstance(value) && value.code === "outbox.unsupported";
  }
}
