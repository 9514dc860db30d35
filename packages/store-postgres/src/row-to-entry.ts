import {
  decodePayload,
  type EntryFailure,
  type OutboxEntry,
  type OutboxEntrySummary,
} from "@outbox/core";
import { microsecondsToDate } from "./sql/instant.js";
import type { Row } from "./sql/statement.js";

/** Reads the columns of `entryColumns`, which begin at `offset`. */
export function rowToEntry(row: Row, offset = 0): OutboxEntry {
  const summary = rowToSummary(row, offset);
  const text = row[offset + 10];
  const base64 = row[offset + 11];
  const payload =
    typeof base64 === "string"
      ? decodePayload({ format: "bytes", bytes: bytesOf(base64) })
      : decodePayload({ format: "json", text: text ?? "null" });
  return { ...summary, envelope: { ...summary.envelope, payload } };
}

/** The same without the payload. */
export function rowToSummary(row: Row, offset = 0): OutboxEntrySummary {
  const column = (index: number) => row[offset + index] ?? null;
  const required = (index: number) => row[offset + index] ?? "";
  const instant = (index: number) => {
    const value = column(index);
    return value === null ? null : microsecondsToDate(value);
  };
  const redrivenAt = instant(25);
  const claimToken = column(29);
  return {
    entryId: required(0),
    destination: required(1),
    envelope: {
      envelopeId: required(2),
      type: required(3),
      source: required(4),
      subject: column(5),
      time: microsecondsToDate(required(6)),
      dataContentType: required(7),
      dataSchema: column(8),
      traceparent: column(9),
    },
    payloadBytes: Number(column(12)),
    metadata: parseMetadata(column(13)),
    orderingKey: column(14),
    status: required(15) as OutboxEntry["status"],
    createdAt: microsecondsToDate(required(16)),
    updatedAt: microsecondsToDate(required(17)),
    availableAt: instant(18),
    nextRetryAt: instant(19),
    deliveredAt: instant(20),
    providerMessageId: column(21),
    deadLetterReason: column(22),
    retryCount: Number(column(23)),
    failures: parseFailures(column(24)),
    lastRedrive:
      redrivenAt === null ? null : { at: redrivenAt, by: column(26), reason: column(27) },
    claimOwner: column(28),
    claimToken,
    claimedAt: instant(30),
    // While leased, the due column is the lease's end.
    claimExpiresAt: claimToken === null ? null : instant(31),
    claimAttemptCount: Number(column(32)),
    abandonedClaimCount: Number(column(33)),
    soloClaim: column(34) === "true",
    soloAbandonedCount: Number(column(35)),
    resolvedClaimToken: column(36),
    resolvedTransition: column(37) as OutboxEntry["resolvedTransition"],
  };
}

/** As they are stored: the instant is the worker's guess, in ISO form. */
export function serializeFailures(failures: readonly EntryFailure[]): string {
  return JSON.stringify(failures);
}

function parseFailures(text: string | null): readonly EntryFailure[] {
  if (text === null || text === "[]") return [];
  const failures = JSON.parse(text) as { at: string; code: string; message: string }[];
  return failures.map((failure) => ({ ...failure, at: new Date(failure.at) }));
}

function parseMetadata(text: string | null): Readonly<Record<string, string>> {
  return text === null || text === "{}" ? {} : JSON.parse(text);
}

/** A plain Uint8Array of its own memory: a Buffer may be a view into a shared pool. */
function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, "base64"));
}
