import { type OutboxEntry, unclaimedDueTime } from "@outbox/core";
import type { RawEntry, RawProbes } from "@outbox/store-conformance";
import type { QueuedMessage, TemporarySqs } from "@outbox/temporary-sqs";
import { readSnapshot } from "../snapshot/read-snapshot.js";
import type { Snapshot } from "../snapshot/snapshot.js";
import type { ClaimLedger } from "./claim-ledger.js";
import type { OutboxOnEmulator } from "./outbox-on-emulator.js";

/** Looks into both queues, past any receive. */
export function sqsRawProbes(
  sqs: TemporarySqs,
  { pendingName, deadLetterName }: OutboxOnEmulator,
  ledger: ClaimLedger,
): RawProbes {
  const readEntries = async (): Promise<readonly RawEntry[]> => {
    const pending = await sqs.inspect(pendingName);
    const deadLetter = await sqs.inspect(deadLetterName);
    const open = [...pending.ready, ...pending.delayed].map((message) =>
      toRawEntry(message, null, ledger),
    );
    const held = pending.inflight.map(({ message, receiptHandle, visibilityDeadline }) =>
      toRawEntry(message, { receiptHandle, visibilityDeadline }, ledger),
    );
    const over = [
      ...deadLetter.ready,
      ...deadLetter.delayed,
      ...deadLetter.inflight.map(({ message }) => message),
    ].map((message) => toRawEntry({ ...message, approximateReceiveCount: 0 }, null, ledger));
    return [...open, ...held, ...over].sort((one, other) => one.order - other.order).map(asRaw);
  };
  return {
    readEntries,
    readEntry: async (entryId) =>
      (await readEntries()).find((entry) => entry.entryId === entryId) ?? null,
    now: () => sqs.now(),
  };
}

type Ordered = RawEntry & { readonly order: number };

function asRaw({ order: _, ...entry }: Ordered): RawEntry {
  return entry;
}

function toRawEntry(
  message: QueuedMessage,
  held: { readonly receiptHandle: string; readonly visibilityDeadline: number } | null,
  ledger: ClaimLedger,
): Ordered {
  const read = readSnapshot(message.body);
  if (read.kind !== "snapshot") throw new Error(`no entry: ${message.body}`);
  const { snapshot } = read;
  const { entry, payload } = snapshot;
  const claimToken = held === null ? null : `${snapshot.generation}:${held.receiptHandle}`;
  const line = claimToken === null ? undefined : ledger.lines.get(claimToken);
  const isClaimed = held !== null && line?.isOver !== true;
  return {
    // A re-sent entry keeps the place of its creation.
    order: creationOrder(snapshot, message),
    entryId: entry.entryId,
    envelopeId: entry.envelope.envelopeId,
    destination: entry.destination,
    type: entry.envelope.type,
    orderingKey: entry.orderingKey,
    metadata: entry.metadata,
    payload: payload.format === "json" ? payload.text : payload.bytes,
    payloadBytes: entry.payloadBytes,
    status: entry.status,
    createdAt: entry.createdAt.getTime(),
    updatedAt: entry.updatedAt.getTime(),
    availableAt: entry.availableAt?.getTime() ?? null,
    nextRetryAt: entry.nextRetryAt?.getTime() ?? null,
    deliveredAt: null,
    dueAt: held?.visibilityDeadline ?? unclaimedDueTime(entry as OutboxEntry)?.getTime() ?? null,
    claimOwner: isClaimed ? (line?.owner ?? null) : null,
    claimToken: isClaimed ? claimToken : null,
    claimedAt: isClaimed ? (line?.claimedAtMs ?? null) : null,
    claimExpiresAt: isClaimed ? held.visibilityDeadline : null,
    claimAttemptCount: entry.claimAttemptCount + message.approximateReceiveCount,
    retryCount: entry.retryCount,
    failures: entry.failures.map(({ code, message: text }) => ({ code, message: text })),
    deadLetterReason: entry.deadLetterReason,
    abandonedClaimCount: 0,
    soloClaim: false,
    soloAbandonedCount: 0,
    resolvedClaimToken: null,
    resolvedTransition: null,
  };
}

const firstSeen = new Map<string, number>();

/** Messages of one call have the same time; the emulator lists them as they were sent. */
function creationOrder({ entry }: Snapshot, { messageId }: QueuedMessage): number {
  const key = `${entry.entryId} ${entry.createdAt.toISOString()}`;
  const order = firstSeen.get(key) ?? entry.createdAt.getTime() + firstSeen.size / 1e6;
  firstSeen.set(key, order);
  void messageId;
  return order;
}
