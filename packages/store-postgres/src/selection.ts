import type { SelectionDriver } from "@outbox/core";
import { toTransition } from "./complete.js";
import { rowToEntry } from "./row-to-entry.js";
import { findDueStatement, findStatement } from "./sql/find.js";
import { saveStatement } from "./sql/save.js";
import { query, type StoreContext } from "./store-context.js";

/** The compatibility path. */
export function createSelection(context: StoreContext): SelectionDriver {
  const { names, onDelivered } = context;
  return {
    async find(entryId) {
      const [row] = await query(context, findStatement(names, entryId));
      return row === undefined ? null : rowToEntry(row);
    },
    async findDue(kind, maxCount) {
      const rows = await query(context, findDueStatement(names, kind, maxCount));
      return rows.map((row) => rowToEntry(row));
    },
    async save(read, write) {
      const [row] = await query(context, saveStatement(names, read, write, onDelivered));
      return toTransition(row ?? [], read);
    },
  };
}
