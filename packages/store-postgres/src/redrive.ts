import type { RedriveDriver } from "@outbox/core";
import { countRedrivableStatement, redrivableStatuses, redriveStatement } from "./sql/redrive.js";
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
      for (const status of redrivableStatuses) {
        let redriven: number;
        do {
          const options = { status, by, reason, chunkSize, notify };
          const [row] = await query(context, redriveStatement(names, filter, options), {
            isLong: true,
          });
          redriven = Number(row?.[0]);
          count += redriven;
        } while (redriven === chunkSize);
      }
      return { count };
    },
  };
}
