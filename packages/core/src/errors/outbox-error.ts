const marker = Symbol.for("@outbox/error");

/** Base of everything this project throws. `code` is stable; the message is for people. */
export class OutboxError extends Error {
  override readonly name: string = "OutboxError";
  /** Stable, `outbox.…`. */
  readonly code: string;
  /** Whether the same call may succeed later. */
  readonly isTransient: boolean;

  constructor(
    code: string,
    message: string,
    options?: { readonly cause?: unknown; readonly isTransient?: boolean },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.isTransient = options?.isTransient ?? false;
    Object.defineProperty(this, marker, { value: true });
  }

  /** Like `instanceof`, and also true across two installed copies of this package. */
  static isInstance(value: unknown): value is OutboxError {
    return typeof value === "object" && value !== null && marker in value;
  }
}
