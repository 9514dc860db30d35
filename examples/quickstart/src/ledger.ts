import type { WorkerFault } from "./messages.js";
import type { ReceivedRequest } from "./receiver-ledger.js";

/** What is known when everything has come to rest, each from its own witness. */
export interface Facts {
  /** From the shop's table of orders. */
  readonly committedOrderIds: readonly string[];
  /** From the producers. */
  readonly rolledBackOrderIds: readonly string[];
  /** From the outbox. */
  readonly entries: readonly EntryFacts[];
  /** From the receiver's own ledger, in the order in which they came. */
  readonly requests: readonly ReceivedRequest[];
  /** From the workers. */
  readonly workerFaults: readonly WorkerFault[];
  readonly kill: KillFacts | null;
}

export interface EntryFacts {
  readonly envelopeId: string;
  readonly retryCount: number;
}

export interface KillFacts {
  readonly workerId: string;
  /** Claims that the worker held when it died. */
  readonly heldCount: number;
  /** From the kill until another worker had claimed each of them, ascending, in ms. */
  readonly reclaimDelaysMs: readonly number[];
  readonly leaseDurationMs: number;
  /** How long after the kill the last of them must have been re-claimed, in ms. */
  readonly limitMs: number;
}

export interface Ledger {
  readonly committed: number;
  readonly rolledBack: number;
  /** Committed orders that the receiver processed. */
  readonly delivered: number;
  /** Committed orders that it did not. */
  readonly lostOrderIds: readonly string[];
  /** Orders that were rolled back, or never heard of, and reached the receiver all the same. */
  readonly phantomOrderIds: readonly string[];
  /** Entries with at least one failed emission, and the failures. */
  readonly retriedEntries: number;
  readonly failedEmissions: number;
  readonly duplicates: Readonly<Record<DuplicateReason, number>>;
  readonly kill: KillFacts | null;
  /** Why the demo failed; empty if it passed. */
  readonly failures: readonly string[];
}

/**
 * Why the receiver saw an event again after it had processed it:
 *
 * - `timeout`: it had not answered, or not in time
 * - `kill`: the worker it had answered was killed before it could write that down
 * - `lease-lost`: the worker it had answered was too slow to write that down
 * - `unexplained`: there is no reason, and the demo fails
 */
export type DuplicateReason = "timeout" | "kill" | "lease-lost" | "unexplained";

/** Adds up the facts. */
export function drawUpLedger(facts: Facts): Ledger {
  const committed = new Set(facts.committedOrderIds);
  const received = new Set(
    facts.requests.filter(({ outcome }) => outcome !== "refused").map(({ orderId }) => orderId),
  );
  const ledger = {
    committed: committed.size,
    rolledBack: facts.rolledBackOrderIds.length,
    delivered: [...committed].filter((id) => received.has(id)).length,
    lostOrderIds: [...committed].filter((id) => !received.has(id)),
    phantomOrderIds: [...received].filter((id) => !committed.has(id)),
    retriedEntries: facts.entries.filter(({ retryCount }) => retryCount > 0).length,
    failedEmissions: facts.entries.reduce((sum, { retryCount }) => sum + retryCount, 0),
    duplicates: countDuplicates(facts),
    kill: facts.kill,
  };
  return { ...ledger, failures: [...findFailures(ledger)] };
}

function countDuplicates(facts: Facts): Record<DuplicateReason, number> {
  const counts = { timeout: 0, kill: 0, "lease-lost": 0, unexplained: 0 };
  const previous = new Map<string, ReceivedRequest>();
  for (const request of facts.requests) {
    if (request.outcome === "refused") continue;
    const before = previous.get(request.idempotencyKey);
    if (before) counts[explainDuplicate(before, facts)] += 1;
    previous.set(request.idempotencyKey, request);
  }
  return counts;
}

/** @param before - the request that had been processed, or recognised, before the duplicate came */
function explainDuplicate(before: ReceivedRequest, facts: Facts): DuplicateReason {
  if (!before.answered) return "timeout";
  if (before.workerId === facts.kill?.workerId) return "kill";
  const fault = facts.workerFaults.find(({ envelopeId }) => envelopeId === before.idempotencyKey);
  return fault?.type ?? "unexplained";
}

function* findFailures(ledger: Omit<Ledger, "failures">): Generator<string> {
  const { committed, lostOrderIds, phantomOrderIds, duplicates, kill } = ledger;
  if (committed === 0) yield "no order was committed";
  if (lostOrderIds.length > 0) {
    yield `${lostOrderIds.length} committed orders were not delivered: ${some(lostOrderIds)}`;
  }
  if (phantomOrderIds.length > 0) {
    yield `${phantomOrderIds.length} orders were delivered without being committed: ${some(phantomOrderIds)}`;
  }
  if (duplicates.unexplained > 0) yield `${duplicates.unexplained} duplicates have no explanation`;
  if (kill === null || kill.heldCount === 0) {
    yield "the killed worker held no claims, so its death proved nothing; run the demo again";
  } else if (kill.reclaimDelaysMs.length < kill.heldCount) {
    yield `only ${kill.reclaimDelaysMs.length} of the ${kill.heldCount} claims of the killed worker were claimed again`;
  } else if ((kill.reclaimDelaysMs.at(-1) ?? 0) > kill.limitMs) {
    yield `the killed worker's claims were not all claimed again within ${kill.limitMs} ms`;
  }
}

function some(ids: readonly string[]): string {
  return ids.length <= 5 ? ids.join(", ") : `${ids.slice(0, 5).join(", ")}, …`;
}
