import { InvalidArgumentError, type MigrationReport } from "@outbox/core";
import { latestVersion, migrations } from "./migrations/migrations.js";
import type { OutboxNames } from "./outbox-names.js";
import { quoteLiteral } from "./quote-identifier.js";
import { readSchemaVersion } from "./sql/schema-version.js";
import type { StoreContext } from "./store-context.js";

/**
 * Applies what is missing, in one transaction under an advisory lock of the transaction: of two
 * processes one waits and then finds it done, and a pooler in transaction mode can be in between.
 */
export async function migrate({ connections, names }: StoreContext): Promise<MigrationReport> {
  // First a look: a role without DDL rights can call this at every start.
  const found = await readSchemaVersion(names, (statement) =>
    connections.query(statement, { isLong: true }),
  );
  if (found >= latestVersion) return { from: found, to: found };
  return connections.transaction(async (session) => {
    await session.query({
      text: "select pg_advisory_xact_lock(hashtextextended($1::text, 0))::text",
      values: [`outbox migration ${names.quoted.table}`],
    });
    const from = await readSchemaVersion(names, (statement) => session.query(statement));
    const to = Math.max(from, latestVersion);
    if (from < to) await session.script(migrationSql(names, { from, to }));
    return { from, to };
  });
}

/** The statements from one version to another, for a host's own migration tool. */
export function migrationSql(
  names: OutboxNames,
  range: { readonly from?: number; readonly to?: number } = {},
): string {
  const { from = 0, to = latestVersion } = range;
  requireVersion("range.from", from);
  requireVersion("range.to", to);
  const { migrationTable } = names.quoted;
  const parts = migrations
    .filter(({ version }) => version > from && version <= to)
    .map(
      (migration) => `-- ${names.table}: migration ${migration.version}, ${migration.name}
${migration.sql(names)}

insert into ${migrationTable} (version, name)
  values (${migration.version}, ${quoteLiteral(migration.name)});`,
    );
  if (parts.length > 0 && from === 0) {
    parts.unshift(`-- Which migrations of ${names.table} were applied.
create table if not exists ${migrationTable} (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default now()
);`);
  }
  return parts.length === 0 ? "" : `${parts.join("\n\n")}\n`;
}

function requireVersion(argument: string, version: number): void {
  if (Number.isInteger(version) && version >= 0 && version <= latestVersion) return;
  throw new InvalidArgumentError(
    argument,
    `must be a version from 0 (nothing there) to ${latestVersion} (this package's), not ${String(version)}`,
  );
}
