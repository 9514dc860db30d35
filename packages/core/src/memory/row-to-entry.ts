import type { OutboxEntry } from "../contract/outbox-entry.js";
import { decodePayload } from "../entry/payload.js";
import type { MemoryRow } from "./memory-outbox.js";

/** A row as callers see it, with a payload of its own. */
export function rowToEntry({ entry, payload }: MemoryRow): OutboxEntry {
  const decoded =
    payload.format === "bytes" ? Uint8Array.from(payload.bytes) : decodePayload(payload);
  return { ...entry, envelope: { ...entry.envelope, payload: decoded } };
}
