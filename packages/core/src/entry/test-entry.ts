import type { OutboxClaim } from "../contract/outbox-claim.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";

/** An entry for tests: under the claim `token-1`, after two failures. */
export const testEntry = (changes: Partial<OutboxEntry> = {}): OutboxEntry => ({
  entryId: "envelope-1",
  destination: "default",
  envelope: {
    envelopeId: "envelope-1",
    type: "order.placed",
    source: "/shop",
    subject: "order-1",
    time: new Date("2026-03-04T05:06:07.089Z"),
    dataContentType: "application/json",
    dataSchema: null,
    traceparent: null,
    payload: { orderId: "order-1" },
  },
  metadata: { tenant: "a" },
  orderingKey: null,
  payloadBytes: 21,
  status: "retryable-failure",
  createdAt: new Date("2026-03-04T05:06:08.000Z"),
  updatedAt: new Date("2026-03-04T05:10:00.000Z"),
  availableAt: null,
  nextRetryAt: new Date("2026-03-04T05:20:00.000Z"),
  deliveredAt: null,
  providerMessageId: null,
  deadLetterReason: null,
  retryCount: 2,
  failures: [
    { at: new Date("2026-03-04T05:08:00.000Z"), code: "http.503", message: "first" },
    { at: new Date("2026-03-04T05:10:00.000Z"), code: "http.503", message: "second" },
  ],
  lastRedrive: null,
  claimOwner: "worker-1",
  claimToken: "token-1",
  claimedAt: new Date("2026-03-04T05:30:00.000Z"),
  claimExpiresAt: new Date("2026-03-04T05:31:00.000Z"),
  claimAttemptCount: 4,
  abandonedClaimCount: 2,
  soloClaim: true,
  soloAbandonedCount: 1,
  resolvedClaimToken: "token-0",
  resolvedTransition: "retryable-failure",
  ...changes,
});

/** The claim under which `testEntry` is, a second old for a process whose clocks are at 1 000. */
export const testClaim = (entry: OutboxEntry = testEntry()): OutboxClaim => ({
  entry,
  workerId: "worker-1",
  claimToken: entry.claimToken ?? "token-1",
  dueAt: entry.nextRetryAt,
  claimedAt: new Date("2026-03-04T05:30:00.000Z"),
  claimExpiresAt: new Date("2026-03-04T05:31:00.000Z"),
  deadline: { monotonicMs: 60_000, wallMs: 60_000 },
});
