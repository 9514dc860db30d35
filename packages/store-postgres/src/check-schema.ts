import type { SchemaReport } from "@outbox/core";
import { latestVersion } from "./migrations/migrations.js";
import { expectedColumns } from "./schema-shape.js";
import { columnsStatement, functionStatement, indexesStatement } from "./sql/catalog.js";
import { readSchemaVersion } from "./sql/schema-version.js";
import type { Statement } from "./sql/statement.js";
import type { StoreContext } from "./store-context.js";

/** Compares what is there with what this package needs. */
export async function checkSchema({ connections, names }: StoreContext): Promise<SchemaReport> {
  const query = (statement: Statement) => connections.query(statement, { isLong: true });
  const version = await readSchemaVersion(names, query);
  const problems: string[] = [];
  const where = `${names.schema}.${names.table}`;
  const migrateHint =
    "run store.migrate(), `npx outbox migrate`, or the SQL of store.migrationSql() with your own migration tool";
  const report = (): SchemaReport => ({
    ok: problems.length === 0,
    version,
    expectedVersion: latestVersion,
    problems,
  });

  const columns = new Map(
    (await query(columnsStatement(names))).map(([name, type]) => [name, type]),
  );
  if (columns.size === 0) {
    problems.push(`The table ${where} is not there: ${migrateHint}.`);
    return report();
  }
  if (version < latestVersion) {
    problems.push(
      `The schema of ${where} is at version ${version}, this package needs ${latestVersion}: ${migrateHint}.`,
    );
  }
  for (const [name, type] of Object.entries(expectedColumns)) {
    const found = columns.get(name);
    if (found === undefined) {
      problems.push(
        `The column ${where}.${name} is missing: add it as ${type} as in store.migrationSql(), or ${migrateHint}.`,
      );
    } else if (found !== type) {
      problems.push(
        `The column ${where}.${name} is ${found} and should be ${type}: change its type as in store.migrationSql().`,
      );
    }
  }
  const indexes = new Map(
    (await query(indexesStatement(names))).map(([name, valid]) => [name, valid]),
  );
  for (const index of Object.values(names.indexes)) {
    const valid = indexes.get(index);
    if (valid === undefined) {
      problems.push(
        `The index ${index} of ${where} is missing, so claims read more than they should, or duplicates get in: create it as in store.migrationSql() (CREATE INDEX CONCURRENTLY while in use).`,
      );
    } else if (valid !== "true") {
      problems.push(
        `The index ${index} of ${where} is invalid, left by an interrupted build, and is not used: REINDEX INDEX CONCURRENTLY it.`,
      );
    }
  }
  const [count] = await query(functionStatement(names));
  if (count?.[0] === "0") {
    problems.push(
      `The function ${names.schema}.${names.enqueueFunction} is missing: create it as in store.migrationSql(). Only triggers and other languages need it.`,
    );
  }
  return report();
}
