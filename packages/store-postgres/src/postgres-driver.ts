import type { StoreDriver, WakeUpFacet } from "@outbox/core";
import { postgresCapabilities } from "./capabilities.js";
import { checkSchema } from "./check-schema.js";
import { claim } from "./claim.js";
import { classifyError } from "./classify-error.js";
import { complete, extend } from "./complete.js";
import { diagnose } from "./diagnose.js";
import { insert } from "./insert.js";
import { createInspection } from "./inspection.js";
import { migrate, migrationSql } from "./migrate.js";
import { createRedrive } from "./redrive.js";
import { createRetention } from "./retention.js";
import { createSelection } from "./selection.js";
import type { StoreContext } from "./store-context.js";
import type { PostgresTransaction } from "./transaction.js";

/** The driver on a context; `wakeUp` where there is a connection to listen on. */
export function createDriver(
  context: StoreContext,
  wakeUp: (WakeUpFacet & { close(): Promise<void> }) | null,
) {
  return {
    name: "postgres",
    contractVersion: 1,
    capabilities: postgresCapabilities,
    insert: (entries, target) => insert(context, entries, target),
    claim: (command) => claim(context, command),
    complete: (completions) => complete(context, completions),
    extend: (claims, leaseDurationMs) => extend(context, claims, leaseDurationMs),
    classifyError,
    async close() {
      await wakeUp?.close();
      await context.connections.close();
    },
    selection: createSelection(context),
    inspection: createInspection(context),
    redrive: createRedrive(context),
    retention: createRetention(context),
    schema: {
      migrate: () => migrate(context),
      migrationSql: (range) => migrationSql(context.names, range),
      checkSchema: () => checkSchema(context),
      diagnose: () => diagnose(context),
    },
    ...(wakeUp === null ? {} : { wakeUp: { subscribe: wakeUp.subscribe } }),
  } as const satisfies StoreDriver<PostgresTransaction>;
}
