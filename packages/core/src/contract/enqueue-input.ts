/** Event types of an application: `{ "order.placed": OrderPlaced }`. */
export type EventMap = Record<string, unknown>;

/** What the caller of `enqueue` may say besides type and payload. Everything has a default. */
export interface EnqueueAttributes {
  /** Idempotency key, at most 255 characters. @defaultValue a new UUID version 7 */
  readonly envelopeId?: string | undefined;
  /** At most 255 characters. @defaultValue derived from `envelopeId` and `destination` */
  readonly entryId?: string | undefined;
  /** Which provider the entry is for, at most 255 characters. @defaultValue `"default"` */
  readonly destination?: string | undefined;
  /** CloudEvents source. @defaultValue the store's `source` option */
  readonly source?: string | undefined;
  /** CloudEvents subject. */
  readonly subject?: string | undefined;
  /** When it happened. @defaultValue now, by the producer's clock */
  readonly time?: Date | undefined;
  /** @defaultValue `application/json`, or `application/octet-stream` for bytes */
  readonly dataContentType?: string | undefined;
  /** URI of the payload's schema. */
  readonly dataSchema?: string | undefined;
  /** W3C trace context, `00-<trace id>-<span id>-<flags>`. */
  readonly traceparent?: string | undefined;
  /** Notes that travel beside the envelope; up to 64 keys, values are strings. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Entries with the same key and destination are emitted in sequence (where the store can). */
  readonly orderingKey?: string | undefined;
  /** Earliest emission, as a delay by the store's clock, in ms. Not together with `availableAt`. */
  readonly availableInMs?: number | undefined;
  /** Earliest emission, as an instant. Not together with `availableInMs`. */
  readonly availableAt?: Date | undefined;
}

/** The attributes plus `type` and `payload`, which come from `Events` when the application declares a map. */
export type EnqueueInput<Events extends EventMap = EventMap> = string extends keyof Events
  ? EnqueueAttributes & { readonly type: string; readonly payload?: unknown }
  : {
      [Type in keyof Events & string]: EnqueueAttributes & {
        readonly type: Type;
      } & (undefined extends Events[Type]
          ? { readonly payload?: Events[Type] }
          : { readonly payload: Events[Type] });
    }[keyof Events & string];

/**
 * Where the entry is written. A store with transactional enqueue demands a transaction, so that
 * forgetting it (the classic bug of this pattern) cannot happen silently; who really wants to
 * enqueue alone says `{ autonomous: true }`.
 */
export type EnqueueOptions<Transaction> = [Transaction] extends [never]
  ? { readonly autonomous?: true; readonly tx?: never }
  :
      | { readonly tx: Transaction; readonly autonomous?: never }
      | { readonly autonomous: true; readonly tx?: never };

/** What became of one enqueued envelope. */
export interface EnqueueResult {
  readonly entryId: string;
  readonly envelopeId: string;
  readonly destination: string;
  /** `false`: this (envelopeId, destination) was there already, and nothing was written. */
  readonly enqueued: boolean;
}
