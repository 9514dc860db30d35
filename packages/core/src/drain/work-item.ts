import type { OutboxClaim } from "../contract/outbox-claim.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { EventEntry } from "./outbox-event.js";

/** One entry in this process's hands, from claim to finalization. */
export interface WorkItem {
  readonly entry: OutboxEntry;
  /** Renewed while the emission runs; `null` on the compatibility path. */
  claim: OutboxClaim | null;
  /** The store has said that the lease is no longer ours; there is nothing left to renew. */
  isTaken: boolean;
  /** Claimed as a suspect: emitted with nothing else in flight, and never put off by a transition. */
  readonly isSuspect: boolean;
  /** Was in a batch that failed as a whole, and is now emitted by itself. */
  isSingle: boolean;
}

export function workItem(
  entry: OutboxEntry,
  claim: OutboxClaim | null,
  isSuspect = false,
): WorkItem {
  return { entry, claim, isTaken: false, isSuspect, isSingle: false };
}

export function eventEntry({ entry }: WorkItem): EventEntry {
  return {
    entryId: entry.entryId,
    envelopeId: entry.envelope.envelopeId,
    type: entry.envelope.type,
    destination: entry.destination,
  };
}
