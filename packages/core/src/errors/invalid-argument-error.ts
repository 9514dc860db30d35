import { OutboxError } from "./outbox-error.js";

/** Bad input, refused at the call: nothing was sent. `outbox.invalid_argument` */
export class InvalidArgumentError extends OutboxError {
  override readonly name = "InvalidArgumentError";
  /** The argument, as a path: `options.leaseDurationMs`, `inputs[3].payload`. */
  readonly argument: string;

  constructor(argument: string, problem: string, options?: { readonly cause?: unknown }) {
    super("outbox.invalid_argument", `${argument} ${problem}`, options);
    this.argument = argument;
  }

  static override isInstance(value: unknown): value is InvalidArgumentError {
    return OutboxError.isInstance(value) && value.code === "outbox.invalid_argument";
  }
}
