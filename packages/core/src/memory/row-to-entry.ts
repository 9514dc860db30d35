import type { OutboxEntry, OutboxEntrySummary } from "../contract/outbox-entry.js";
import { decodePayload } from "../entry/payload.js";
import type { MemoryRow } from "./memory-outbox.js";

/** A row as callers see it: a copy, so that nothing they do to it reaches the outbox. */
export function rowToEntry(row: MemoryRow): OutboxEntry {
  const { envelope, ...state } = rowToSummary(row);
  const { payload } = row;
  const decoded = payload.format === "bytes" ? payload.bytes.slice() : decodePayload(payload);
  return { ...state, envelope: { ...envelope, payload: decoded } };
}

export function rowToSummary({ entry }: MemoryRow): OutboxEntrySummary {
  return structuredClone(entry);
}
