import type { StoreCapabilities } from "../contract/store-capabilities.js";
import type {
  InsertedEntry,
  InsertTarget,
  NewEntry,
  StoreDriver,
} from "../contract/store-driver.js";
import { EntryIdTakenError } from "../errors/entry-id-taken-error.js";
import { memoryInspection, memoryRedrive, memoryRetention } from "./memory-administration.js";
import { claimFromMemory } from "./memory-claim.js";
import { completeInMemory, isTerminal } from "./memory-complete.js";
import type { MemoryOutbox } from "./memory-outbox.js";
import { memorySelection } from "./memory-selection.js";

export const memoryCapabilities: StoreCapabilities = {
  durability: "process",
  transactionalEnqueue: false,
  fencing: "enforced",
  lateCompletion: "applied",
  entryUniqueness: "enforced",
  counters: "exact",
  selectionOrder: "exact",
  claimKinds: "separate",
  typeFilter: "in-claim",
  claimReplay: true,
  byteBound: "in-claim",
  keepsDelivered: "always",
  perKeyOrder: "none",
  crashIsolation: true,
  maxLeaseMs: null,
  maxDelayMs: null,
  maxClaimCount: null,
  maxTransitionBatch: null,
  maxParkedAgeMs: null,
  timePrecisionMs: 1,
  token: "core",
};

/**
 * The reference driver: the contract on a map. Every method does its work in one synchronous step,
 * which is this driver's transaction.
 */
export function createMemoryDriver(outbox: MemoryOutbox) {
  return {
    name: "memory",
    contractVersion: 1,
    capabilities: memoryCapabilities,
    // The target is named for its type: there is no transaction to join.
    async insert(entries, _target: InsertTarget<never>) {
      return insertAll(outbox, entries);
    },
    async claim(command) {
      return claimFromMemory(outbox, command);
    },
    async complete(completions) {
      return completions.map((completion) => completeInMemory(outbox, completion));
    },
    async extend(claims, leaseDurationMs) {
      const claimExpiresAt = new Date(outbox.now() + leaseDurationMs);
      return claims.map(({ entry: { entryId }, claimToken }) => {
        const row = outbox.rows.get(entryId);
        if (row === undefined) return { outcome: "missing", claimExpiresAt: null };
        if (row.entry.claimToken !== claimToken) {
          return { outcome: isTerminal(row) ? "terminal" : "stale-claim", claimExpiresAt: null };
        }
        outbox.rows.set(entryId, { ...row, entry: { ...row.entry, claimExpiresAt } });
        return { outcome: "applied", claimExpiresAt: new Date(claimExpiresAt) };
      });
    },
    classifyError: () => "permanent",
    async close() {},
    selection: memorySelection(outbox),
    inspection: memoryInspection(outbox),
    redrive: memoryRedrive(outbox),
    retention: memoryRetention(outbox),
    wakeUp: {
      async subscribe(listener) {
        const unsubscribe = outbox.onInsert(() => listener.onWakeUp());
        return { connected: true, close: async () => unsubscribe() };
      },
    },
  } as const satisfies StoreDriver<never>;
}

function insertAll(outbox: MemoryOutbox, entries: readonly NewEntry[]): readonly InsertedEntry[] {
  const found = entries.map(({ envelope, destination }) =>
    outbox.entryIdOf(envelope.envelopeId, destination),
  );
  // All or none: look before the first write.
  const ids = new Set<string>();
  entries.forEach(({ entryId }, index) => {
    if (found[index] !== undefined) return;
    if (outbox.rows.has(entryId) || ids.has(entryId)) throw new EntryIdTakenError(entryId);
    ids.add(entryId);
  });
  const results = entries.map((entry, index) => {
    const entryId = found[index];
    if (entryId !== undefined) return { enqueued: false, entryId };
    insertOne(outbox, entry);
    return { enqueued: true, entryId: entry.entryId };
  });
  outbox.announceInsert();
  return results;
}

function insertOne(outbox: MemoryOutbox, { payload, available, ...given }: NewEntry): void {
  const createdAt = new Date(outbox.now());
  outbox.insert({
    payload,
    claimId: null,
    entry: {
      ...given,
      payloadBytes: payload.byteLength,
      status: "pending",
      createdAt,
      updatedAt: createdAt,
      availableAt:
        available === null
          ? null
          : "at" in available
            ? available.at
            : new Date(createdAt.getTime() + available.inMs),
      nextRetryAt: null,
      deliveredAt: null,
      providerMessageId: null,
      deadLetterReason: null,
      retryCount: 0,
      failures: [],
      lastRedrive: null,
      claimOwner: null,
      claimToken: null,
      claimedAt: null,
      claimExpiresAt: null,
      claimAttemptCount: 0,
      abandonedClaimCount: 0,
      soloClaim: false,
      soloAbandonedCount: 0,
      resolvedClaimToken: null,
      resolvedTransition: null,
    },
  });
}
