import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import type { EmissionContext } from "../contract/emitter.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";

/** An envelope for tests of emitters. */
export const testEnvelope = (changes: Partial<EmissionEnvelope> = {}): EmissionEnvelope => ({
  envelopeId: "envelope-1",
  type: "order.placed",
  source: "/shop",
  subject: "order-1",
  time: new Date("2026-03-04T05:06:07.089Z"),
  dataContentType: "application/json",
  dataSchema: null,
  traceparent: null,
  payload: { orderId: "order-1", totalCents: 4_200 },
  ...changes,
});

/** A context for tests of emitters, whose entry nobody looks at. */
export const testContext = (changes: Partial<EmissionContext> = {}): EmissionContext => ({
  signal: new AbortController().signal,
  attempt: 1,
  entry: {} as OutboxEntry,
  claim: null,
  idempotencyKey: "envelope-1",
  ...changes,
});
