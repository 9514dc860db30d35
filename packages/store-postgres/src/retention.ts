import type { RetentionDriver } from "@outbox/core";
import { countPurgeableStatement, purgeStatement } from "./sql/purge.js";
import { query, type StoreContext } from "./store-context.js";

export function createRetention(context: StoreContext): RetentionDriver {
  const { names } = context;
  return {
    async purge({ statuses, olderThanMs, batchSize, dryRun, signal }) {
      const conditions = { statuses, olderThanMs };
      if (dryRun) {
        const [row] = await query(context, countPurgeableStatement(names, conditions), {
          isLong: true,
        });
        return { count: Number(row?.[0]) };
      }
      let count = 0;
      while (signal?.aborted !== true) {
        const [row] = await query(context, purgeStatement(names, conditions, batchSize), {
          isLong: true,
        });
        const deleted = Number(row?.[0]);
        count += deleted;
        if (deleted < batchSize) break;
      }
      return { count };
    },
  };
}
