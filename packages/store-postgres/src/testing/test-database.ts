import { createDatabase, dropDatabase } from "@outbox/temporary-postgres";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";

/** A database of a test file's own, on the first server of the run. */
export interface TestDatabase {
  readonly url: string;
  /** A pool of the test's own. */
  readonly pool: pg.Pool;
}

/** Creates it before the tests of the file or block, and drops it afterwards. */
export function useTestDatabase(): TestDatabase {
  const [server] = testPostgresServers();
  let url = "";
  let pool: pg.Pool | undefined;
  beforeAll(async () => {
    url = await createDatabase(server.url);
    pool = new pg.Pool({ connectionString: url });
    pool.on("error", () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await dropDatabase(server.url, url);
  });
  return {
    get url() {
      return url;
    },
    get pool() {
      if (pool === undefined) throw new Error("the database is there from beforeAll on");
      return pool;
    },
  };
}
