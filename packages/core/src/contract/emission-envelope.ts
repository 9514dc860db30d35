/**
 * What is emitted: CloudEvents-compatible attributes and a payload. It never changes over retries.
 *
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
 */
export interface EmissionEnvelope<Type extends string = string, Payload = unknown> {
  /** The idempotency key (CloudEvents `id`), unique together with the entry's destination. */
  readonly envelopeId: string;
  /** What happened, e.g. `order.placed` (CloudEvents `type`). */
  readonly type: Type;
  /** Who says so, a URI reference (CloudEvents `source`). */
  readonly source: string;
  /** What it is about, e.g. an order's id (CloudEvents `subject`). */
  readonly subject: string | null;
  /** When it happened (CloudEvents `time`), millisecond precision. */
  readonly time: Date;
  /** Media type of the payload, e.g. `application/json`. */
  readonly dataContentType: string;
  /** URI of the payload's schema. */
  readonly dataSchema: string | null;
  /** W3C trace context of the producer. */
  readonly traceparent: string | null;
  /** Any JSON value, or bytes. */
  readonly payload: Payload;
}
