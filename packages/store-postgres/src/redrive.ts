import type { RedriveDriver } from "@outbox/core";
import { countRedrivableStatement, redriveStatement } from "./sql/redrive.js";
import { query, type StoreContext } from "./store-context.js";

/** Entries per statement: short enough that nobody waits for its locks or its commit. */
const chunkSize = 1_000;

export function createRedrive(context: StoreContext): RedriveDriver {
  const { names } = context;
  return {
    async redrive(filter, { by, reason, dryRun }) {
      if (dryRun) {
        const [row] = await query(context, countRedrivableStatement(names, filter), {
          isLong: true,
        });
        return { count: Number(row?.[0]) };
      }
      const notify = context.notify !== null;
      let count = 0;
      for (;;) {
        const statement = redriveStatement(names, filter, { by, reason, chunkSize, notify });
        const [row] = await query(context, statement, { isLong: true });
        const redriven = Number(row?.[0]);
        count += redriven;
        if (redriven < chunkSize) return { count };
      }
    },
  };
}
