import type { RetentionDriver } from "@outbox/core";
import { countPurgeableStatement, purgeStatement } from "./sql/purge.js";
import { query, type StoreContext } from "./store-context.js";

export function createRetention(context: StoreContext): RetentionDriver {
  const { names } = context;
  return {
    async purge({ statuses, olderThanMs, batchSize, dryRun, signal }) {
      let count = 0;
      for (const status of new Set(statuses)) {
        const conditions = { status, olderThanMs };
        let counted: number;
        do {
          if (signal?.aborted === true) return { count };
          const statement = dryRun
            ? countPurgeableStatement(names, conditions)
            : purgeStatement(names, conditions, batchSize);
          const [row] = await query(context, statement, { isLong: true });
          counted = Number(row?.[0]);
          count += counted;
        } while (!dryRun && counted === batchSize);
      }
      return { count };
    },
  };
}
