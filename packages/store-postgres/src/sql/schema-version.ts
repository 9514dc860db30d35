import type { OutboxNames } from "../outbox-names.js";
import { quoteLiteral } from "../quote-identifier.js";
import type { Row, Statement } from "./statement.js";

/**
 * The version of the schema, 0 if it is not there. Two statements, because a statement that names a
 * table which is not there is not even parsed.
 */
export async function readSchemaVersion(
  { quoted: { migrationTable } }: OutboxNames,
  query: (statement: Statement) => Promise<readonly Row[]>,
): Promise<number> {
  const [exists] = await query({
    text: `select (to_regclass(${quoteLiteral(migrationTable)}) is not null)::text`,
    values: [],
  });
  if (exists?.[0] !== "true") return 0;
  const [row] = await query({
    text: `select coalesce(max(version), 0)::text from ${migrationTable}`,
    values: [],
  });
  return Number(row?.[0]);
}
