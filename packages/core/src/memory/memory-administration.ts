import type {
  InspectionDriver,
  RedriveDriver,
  ResolvedEntryFilter,
  RetentionDriver,
} from "../contract/store-driver.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { matchesTypeFilter } from "../validation/type-patterns.js";
import { dueRows } from "./memory-claim.js";
import { isTerminal } from "./memory-complete.js";
import type { MemoryOutbox, MemoryRow } from "./memory-outbox.js";
import { memoryStats } from "./memory-stats.js";
import { rowToEntry, rowToSummary } from "./row-to-entry.js";

export function memoryInspection(outbox: MemoryOutbox): InspectionDriver {
  return {
    async list(filter, { maxCount, after }) {
      const lastSequence = after === null ? 0 : parseCursor(after);
      const matching = rowsMatching(outbox, filter)
        .filter((row) => row.sequence > lastSequence)
        .sort((a, b) => a.sequence - b.sequence);
      const page = matching.slice(0, maxCount);
      const last = page.at(-1);
      return {
        entries: page.map(rowToSummary),
        ...(last !== undefined && matching.length > page.length
          ? { cursor: String(last.sequence) }
          : {}),
      };
    },
    async show(entryId) {
      const row = outbox.rows.get(entryId);
      return row === undefined ? null : rowToEntry(row);
    },
    async stats() {
      return memoryStats([...outbox.rows.values()], dueRows(outbox, outbox.now()), outbox.now());
    },
  };
}

export function memoryRedrive(outbox: MemoryOutbox): RedriveDriver {
  return {
    async redrive(filter, { by, reason, dryRun }) {
      const rows = rowsMatching(outbox, filter).filter(
        ({ entry }) => entry.status === "failed" || entry.status === "dead-lettered",
      );
      if (!dryRun) for (const row of rows) redriveRow(outbox, row, by, reason);
      return { count: rows.length };
    },
  };
}

export function memoryRetention(outbox: MemoryOutbox): RetentionDriver {
  return {
    async purge({ statuses, olderThanMs, dryRun }) {
      const before = outbox.now() - olderThanMs;
      const rows = [...outbox.rows.values()].filter(
        (row) =>
          isTerminal(row) &&
          (statuses as readonly string[]).includes(row.entry.status) &&
          row.entry.updatedAt.getTime() <= before,
      );
      if (!dryRun) for (const row of rows) outbox.delete(row);
      return { count: rows.length };
    },
  };
}

function parseCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new InvalidArgumentError(
    "options.after",
    "is not a cursor of this store; pass the `cursor` of an earlier page",
  );
}

function redriveRow(
  outbox: MemoryOutbox,
  row: MemoryRow,
  by: string | null,
  reason: string | null,
): void {
  const at = new Date(outbox.now());
  outbox.rows.set(row.entry.entryId, {
    ...row,
    entry: {
      ...row.entry,
      status: "pending",
      updatedAt: at,
      // Due now, not at its place of long ago: it must not overtake what waited all the time.
      availableAt: at,
      nextRetryAt: null,
      retryCount: 0,
      deadLetterReason: null,
      lastRedrive: { at, by, reason },
      abandonedClaimCount: 0,
      soloClaim: false,
      soloAbandonedCount: 0,
    },
  });
  outbox.announceInsert();
}

function rowsMatching(outbox: MemoryOutbox, filter: ResolvedEntryFilter): readonly MemoryRow[] {
  const isIn = (list: readonly string[] | null, value: string | null) =>
    list === null || (value !== null && list.includes(value));
  return [...outbox.rows.values()].filter(
    ({ entry }) =>
      isIn(filter.entryIds, entry.entryId) &&
      isIn(filter.envelopeIds, entry.envelope.envelopeId) &&
      isIn(filter.destinations, entry.destination) &&
      isIn(filter.statuses, entry.status) &&
      isIn(filter.orderingKeys, entry.orderingKey) &&
      matchesTypeFilter(filter.types, entry.envelope.type) &&
      (filter.createdFrom === null || entry.createdAt >= filter.createdFrom) &&
      (filter.createdBefore === null || entry.createdAt < filter.createdBefore) &&
      (filter.updatedFrom === null || entry.updatedAt >= filter.updatedFrom) &&
      (filter.updatedBefore === null || entry.updatedAt < filter.updatedBefore),
  );
}
