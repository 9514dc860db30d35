import { storableJson } from "./message-text.js";
import { type Snapshot, snapshotVersion } from "./snapshot.js";

/** The body of a message. Fields that say nothing are left out; the payload is the last one. */
export function writeSnapshot({ generation, notBefore, entry, payload }: Snapshot): string {
  const { envelope } = entry;
  const head = {
    outbox: snapshotVersion,
    generation,
    notBefore: notBefore ?? undefined,
    entryId: entry.entryId,
    destination: entry.destination,
    envelopeId: envelope.envelopeId,
    type: envelope.type,
    source: envelope.source,
    subject: envelope.subject ?? undefined,
    time: envelope.time,
    dataContentType: envelope.dataContentType,
    dataSchema: envelope.dataSchema ?? undefined,
    traceparent: envelope.traceparent ?? undefined,
    metadata: Object.keys(entry.metadata).length === 0 ? undefined : entry.metadata,
    orderingKey: entry.orderingKey ?? undefined,
    status: entry.status,
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    availableAt: entry.availableAt ?? undefined,
    nextRetryAt: entry.nextRetryAt ?? undefined,
    deadLetterReason: entry.deadLetterReason ?? undefined,
    retryCount: entry.retryCount === 0 ? undefined : entry.retryCount,
    failures: entry.failures.length === 0 ? undefined : entry.failures,
    lastRedrive: entry.lastRedrive ?? undefined,
    claimAttemptCount: entry.claimAttemptCount === 0 ? undefined : entry.claimAttemptCount,
    payloadBytes: payload.byteLength,
  };
  // The payload's own text, not parsed and written again: it comes back as it went in.
  const last =
    payload.format === "json"
      ? `"payload":${payload.text}`
      : `"payloadBase64":"${Buffer.from(payload.bytes).toString("base64")}"`;
  return storableJson(`${JSON.stringify(head).slice(0, -1)},${last}}`);
}
