import { OutboxError } from "@outbox/core";
import { sqlState } from "./classify-error.js";
import type { OutboxNames } from "./outbox-names.js";

/** Undefined table, column, function, schema. */
const missing: ReadonlySet<string> = new Set(["42P01", "42703", "42883", "3F000"]);

/** An error of a missing or older schema becomes one that says what to do; others stay. */
export function explainError(error: unknown, { schema, table }: OutboxNames): unknown {
  const state = sqlState(error);
  if (state === undefined || !missing.has(state)) return error;
  const what = error instanceof Error ? error.message : String(error);
  return new OutboxError(
    "outbox.schema_missing",
    `the outbox ${schema}.${table} is not there or older than this package needs (${what}); run store.migrate(), \`npx outbox migrate\`, or the SQL of store.migrationSql() with your own migration tool`,
    { cause: error },
  );
}
