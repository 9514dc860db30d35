import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { EncodedPayload } from "../entry/payload.js";

/** One stored entry. The payload is kept encoded, so that a caller's later change cannot reach it. */
export interface MemoryRow {
  readonly entry: Omit<OutboxEntry, "envelope"> & {
    readonly envelope: Omit<OutboxEntry["envelope"], "payload">;
  };
  readonly payload: EncodedPayload;
  readonly sequence: number;
  readonly claimId: string | null;
}

/** The shared state behind one or several memory stores: the "database". */
export class MemoryOutbox {
  readonly rows = new Map<string, MemoryRow>();
  readonly #entryIdByPair = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #sequence = 0;
  /** The store's clock, in ms since 1970. */
  readonly now: () => number;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  entryIdOf(envelopeId: string, destination: string): string | undefined {
    return this.#entryIdByPair.get(pair(envelopeId, destination));
  }

  insert(row: Omit<MemoryRow, "sequence">): void {
    const { entryId, envelope, destination } = row.entry;
    this.#sequence += 1;
    this.rows.set(entryId, { ...row, sequence: this.#sequence });
    this.#entryIdByPair.set(pair(envelope.envelopeId, destination), entryId);
  }

  delete({ entry }: MemoryRow): void {
    this.rows.delete(entry.entryId);
    this.#entryIdByPair.delete(pair(entry.envelope.envelopeId, entry.destination));
  }

  /** Calls the listener after each insert; returns how to end that. */
  onInsert(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  announceInsert(): void {
    for (const listener of this.#listeners) queueMicrotask(listener);
  }
}

function pair(envelopeId: string, destination: string): string {
  return JSON.stringify([envelopeId, destination]);
}
