import type { InspectionDriver } from "@outbox/core";
import { InvalidArgumentError } from "@outbox/core";
import { rowToEntry, rowToSummary } from "./row-to-entry.js";
import { findStatement } from "./sql/find.js";
import { listResult, listStatement } from "./sql/list.js";
import { statsStatement } from "./sql/stats.js";
import { toStats } from "./stats.js";
import { query, type StoreContext } from "./store-context.js";

export function createInspection(context: StoreContext): InspectionDriver {
  const { names } = context;
  return {
    async list(filter, { maxCount, after }) {
      if (after !== null && !/^\d{1,19}$/.test(after)) {
        throw new InvalidArgumentError(
          "options.after",
          "is not a cursor of this store; pass the `cursor` of an earlier page",
        );
      }
      const rows = await query(context, listStatement(names, filter, maxCount, after), {
        isLong: true,
      });
      const page = rows.slice(0, maxCount);
      const last = page.at(-1)?.[listResult.sequence];
      return {
        entries: page.map((row) => rowToSummary(row, listResult.entry)),
        ...(rows.length > maxCount && typeof last === "string" ? { cursor: last } : {}),
      };
    },
    async show(entryId) {
      const [row] = await query(context, findStatement(names, entryId));
      return row === undefined ? null : rowToEntry(row);
    },
    async stats({ exact }) {
      return toStats(await query(context, statsStatement(names, exact), { isLong: true }), exact);
    },
  };
}
