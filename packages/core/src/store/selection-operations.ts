import type { EmissionError } from "../contract/emission-result.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { FindOptions, OutboxStore } from "../contract/outbox-store.js";
import type { SelectionDriver } from "../contract/store-driver.js";
import type { ClaimTransition, TransitionWrite } from "../contract/transition.js";
import { applyTransition } from "../entry/apply-transition.js";
import {
  deadLetteredWrite,
  deliveredWrite,
  failedWrite,
  savedWrite,
} from "../entry/transition-writes.js";
import {
  refuseUnknownKeys,
  requireId,
  requireInteger,
  requireObject,
  requireString,
} from "../validation/argument-checks.js";
import { claimDefaults, largestClaim } from "../validation/resolve-claim-request.js";
import {
  requireDeliveredResult,
  requireEmissionError,
  requireEntry,
  requireSavable,
  resolveRetry,
} from "../validation/resolve-transition.js";
import type { StoreCalls } from "./store-calls.js";

type SelectionOperations = Omit<OutboxStore, "enqueue">;

/** How often a mark reads again after losing a race; each loss means that someone else advanced. */
const maxReads = 10;

/** The compatibility path of a store. */
export function selectionOperations(
  selection: SelectionDriver,
  calls: StoreCalls,
): SelectionOperations {
  const find = (entryId: string) =>
    calls.run("findByOutboxEntryId", "always", () => selection.find(entryId));

  const save = async (read: OutboxEntry, write: TransitionWrite): Promise<ClaimTransition> => {
    // A lost reply cannot be told from a lost race here, so only what was not applied is repeated.
    const { outcome, at, entry } = await calls.run("save", "if-not-applied", () =>
      selection.save(read, write),
    );
    return outcome === "applied" && at !== null
      ? { outcome, entry: applyTransition(read, write, at, null) }
      : { outcome, entry: entry ?? null };
  };

  const mark = async (
    entryId: string,
    toWrite: (entry: OutboxEntry) => TransitionWrite,
  ): Promise<ClaimTransition> => {
    requireId("entryId", entryId);
    for (let reads = 1; ; reads++) {
      const entry = await find(entryId);
      if (entry === null) return { outcome: "missing", entry: null };
      const transition = await save(entry, toWrite(entry));
      if (transition.outcome !== "concurrency-lost" || reads === maxReads) return transition;
    }
  };

  const findDue = async (kind: "pending" | "retry-ready", options: FindOptions = {}) => {
    refuseUnknownKeys("options", requireObject("options", options), ["maxCount"]);
    const { maxCount = claimDefaults.maxCount } = options;
    requireInteger("options.maxCount", maxCount, { min: 1, max: largestClaim });
    return calls.run("find", "always", () => selection.findDue(kind, maxCount));
  };

  return {
    findByOutboxEntryId: async (entryId) => find(requireId("entryId", entryId)),
    findPending: (options) => findDue("pending", options),
    findRetryReady: (options) => findDue("retry-ready", options),
    markDelivered: async (entryId, result = {}) => {
      requireDeliveredResult("result", result);
      return mark(entryId, (entry) => deliveredWrite(entry, result));
    },
    markFailed: async (entryId, error: EmissionError, retry) => {
      requireEmissionError("error", error);
      const due = resolveRetry("retry", retry);
      return mark(entryId, (entry) => failedWrite(entry, error, due, new Date()));
    },
    markDeadLettered: async (entryId, error, reason) => {
      requireEmissionError("error", error);
      const stored = reason === undefined ? error.code : requireString("reason", reason);
      return mark(entryId, (entry) => deadLetteredWrite(entry, error, stored, true, new Date()));
    },
    save: async (read, next) => {
      requireEntry("read", read);
      requireSavable("next", read, next);
      return save(read, savedWrite(read, next));
    },
  };
}
