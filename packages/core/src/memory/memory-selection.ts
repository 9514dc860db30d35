import type { SelectionDriver } from "../contract/store-driver.js";
import { dueRows } from "./memory-claim.js";
import { isTerminal, writeRow } from "./memory-complete.js";
import type { MemoryOutbox } from "./memory-outbox.js";
import { rowToEntry } from "./row-to-entry.js";

/** The compatibility path on memory. */
export function memorySelection(outbox: MemoryOutbox): SelectionDriver {
  return {
    async find(entryId) {
      const row = outbox.rows.get(entryId);
      return row === undefined ? null : rowToEntry(row);
    },
    async findDue(kind, maxCount) {
      return dueRows(outbox, outbox.now())
        .filter(({ entry }) => (entry.status === "pending") === (kind === "pending"))
        .slice(0, maxCount)
        .map(rowToEntry);
    },
    async save(read, write) {
      // Two saves within one millisecond must differ in `updatedAt`, which is the version here.
      const at = new Date(Math.max(outbox.now(), read.updatedAt.getTime() + 1));
      const row = outbox.rows.get(read.entryId);
      if (row === undefined) return { outcome: "missing", at, entry: null };
      const entry = rowToEntry(row);
      if ((entry.claimExpiresAt?.getTime() ?? 0) > outbox.now()) {
        return { outcome: "leased", at, entry };
      }
      if (isTerminal(row)) return { outcome: "terminal", at, entry };
      if (
        entry.status !== read.status ||
        entry.updatedAt.getTime() !== read.updatedAt.getTime() ||
        entry.claimAttemptCount !== read.claimAttemptCount
      ) {
        return { outcome: "concurrency-lost", at, entry };
      }
      writeRow(outbox, row, write, at, null);
      return { outcome: "applied", at };
    },
  };
}
