import { dueTime, type MemoryOutbox } from "@outbox/core";
import type { RawChanges, RawEntry, RawProbes } from "../harness/raw-probes.js";

type MemoryRow = NonNullable<ReturnType<MemoryOutbox["rows"]["get"]>>;

/** Looks into the map behind memory stores. */
export function memoryRawProbes(outbox: MemoryOutbox): RawProbes {
  return {
    readEntry: async (entryId) => {
      const row = outbox.rows.get(entryId);
      return row === undefined ? null : toRawEntry(row);
    },
    readEntries: async () =>
      [...outbox.rows.values()].sort((a, b) => a.sequence - b.sequence).map(toRawEntry),
    now: async () => outbox.now(),
    writeEntry: async (entryId, changes) => {
      const row = outbox.rows.get(entryId);
      if (row === undefined) return;
      outbox.rows.set(entryId, { ...row, entry: { ...row.entry, ...toEntryFields(changes) } });
    },
  };
}

const instantFields = [
  "updatedAt",
  "availableAt",
  "nextRetryAt",
  "deliveredAt",
  "claimedAt",
  "claimExpiresAt",
] as const;

function toEntryFields(changes: RawChanges): Partial<MemoryRow["entry"]> {
  const fields: Record<string, unknown> = { ...changes };
  for (const field of instantFields) {
    const instant = changes[field];
    if (typeof instant === "number") fields[field] = new Date(instant);
  }
  return fields;
}

const msOf = (instant: Date | null): number | null => instant?.getTime() ?? null;

function toRawEntry({ entry, payload }: MemoryRow): RawEntry {
  return {
    entryId: entry.entryId,
    envelopeId: entry.envelope.envelopeId,
    destination: entry.destination,
    type: entry.envelope.type,
    orderingKey: entry.orderingKey,
    metadata: { ...entry.metadata },
    payload: payload.format === "json" ? payload.text : payload.bytes,
    payloadBytes: entry.payloadBytes,
    status: entry.status,
    createdAt: entry.createdAt.getTime(),
    updatedAt: entry.updatedAt.getTime(),
    availableAt: msOf(entry.availableAt),
    nextRetryAt: msOf(entry.nextRetryAt),
    deliveredAt: msOf(entry.deliveredAt),
    // Only the payload is missing, which has no due time.
    dueAt: msOf(dueTime(entry as never)),
    claimOwner: entry.claimOwner,
    claimToken: entry.claimToken,
    claimedAt: msOf(entry.claimedAt),
    claimExpiresAt: msOf(entry.claimExpiresAt),
    claimAttemptCount: entry.claimAttemptCount,
    retryCount: entry.retryCount,
    failures: entry.failures.map(({ code, message }) => ({ code, message })),
    deadLetterReason: entry.deadLetterReason,
    abandonedClaimCount: entry.abandonedClaimCount,
    soloClaim: entry.soloClaim,
    soloAbandonedCount: entry.soloAbandonedCount,
    resolvedClaimToken: entry.resolvedClaimToken,
    resolvedTransition: entry.resolvedTransition,
  };
}
