import type { TestProject } from "vitest/node";
import type {} from "./provided-context.js";
import { queryServer } from "./query-server.js";
import { startTemporaryPostgres } from "./start-temporary-postgres.js";

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
  try {
    const [row] = await queryServer<{ number: number }>(
      url,
      "select current_setting('server_version_num')::int / 10000 as number",
    );
    if (row) return row.number;
    throw new Error("The server did not tell its version.");
  } catch (error) {
    throw new Error(
      "The server that OUTBOX_TEST_POSTGRES_URL names cannot be used. Start it, correct the " +
        "variable, or unset it to have the tests bring a server of their own.",
      { cause: error },
    );
  }
}
