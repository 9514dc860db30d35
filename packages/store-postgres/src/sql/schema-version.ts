import type { OutboxNames } from "../outbox-names.js";
import { quoteLiteral } from "../quote-identifier.js";
import type { Row, Statement } from "./statement.js";

/**
 * The version of the schema, 0 if it is not there. Two statements, because a statement that names a
 * table which is not there is not even parsed.
 *
 * The catalogue is read as a table: `to_regclass` answers from the session's cache, which does not
 * learn of another session's migration while this one waits for its advisory lock.
 */
export async function readSchemaVersion(
  { schema, migrationTable, quoted }: OutboxNames,
  query: (statement: Statement) => Promise<readonly Row[]>,
): Promise<number> {
  const [exists] = await query({
    text: `select exists (
  select from pg_catalog.pg_class as class
  join pg_catalog.pg_namespace as namespace on namespace.oid = class.relnamespace
  where namespace.nspname = ${quoteLiteral(schema)} and class.relname = ${quoteLiteral(migrationTable)}
)::text`,
    values: [],
  });
  if (exists?.[0] !== "true") return 0;
  const [row] = await query({
    text: `select coalesce(max(version), 0)::text from ${quoted.migrationTable}`,
    values: [],
  });
  return Number(row?.[0]);
}
