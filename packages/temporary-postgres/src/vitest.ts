import { inject } from "vitest";
import type { TestPostgresServer } from "./provided-context.js";

export type { TestPostgresServer };

/**
 * The servers that `@outbox/temporary-postgres/vitest-global-setup` started for this run. A test
 * file creates a database of its own on each, with `createDatabase(server.url)`.
 */
export function testPostgresServers(): readonly [TestPostgresServer, ...TestPostgresServer[]] {
  const [first, ...others] = inject("postgresServers") ?? [];
  if (first) return [first, ...others];
  throw new Error(
    "No PostgreSQL was started for this run. Add " +
      '`globalSetup: ["@outbox/temporary-postgres/vitest-global-setup"]` to the vitest configuration.',
  );
}
