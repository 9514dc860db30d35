import pg from "pg";
import type { TestProject } from "vitest/node";
import type {} from "./provided-context.js";
import { startTemporaryPostgres } from "./temporary-postgres.js";

/** Starts the servers of one vitest run, or names the one that `OUTBOX_TEST_POSTGRES_URL` points to. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { OUTBOX_TEST_POSTGRES_URL: url } = process.env;
  if (url) {
    project.provide("postgresServers", [{ version: await majorVersion(url), url }]);
    return async () => undefined;
  }
  const versions = project.getProvidedContext().postgresVersions ?? [18];
  const servers = await Promise.all(
    versions.map((version) => startTemporaryPostgres({ version, durable: false })),
  );
  project.provide(
    "postgresServers",
    servers.map(({ version, url }) => ({ version, url })),
  );
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
}

async function majorVersion(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version_num: string }>("show server_version_num");
    return Math.floor(Number(rows[0]?.server_version_num) / 10_000);
  } finally {
    await client.end();
  }
}
