import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createDatabase, dropDatabase } from "./create-database.js";
import { findPgBouncer } from "./find-pgbouncer.js";
import { processesMentioning } from "./processes-mentioning.js";
import { queryServer } from "./query-server.js";
import { startPgBouncer } from "./temporary-pgbouncer.js";
import { testPostgresServers } from "./vitest.js";

const [server] = testPostgresServers();
const hasPgBouncer = findPgBouncer() !== undefined;

describe.skipIf(!hasPgBouncer)("PgBouncer (skipped where the machine has none)", () => {
  it("gives each transaction a server connection, and leaves nothing behind", async () => {
    const temporary = await mkdtemp(join(tmpdir(), "pgbouncer test "));
    await chmod(temporary, 0o755);
    vi.stubEnv("TMPDIR", temporary);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await rm(temporary, { recursive: true });
    });

    const url = await createDatabase(server.url);
    const pooler = await startPgBouncer({ url, settings: { default_pool_size: "1" } });
    const clients = [1, 2].map(
      () => new pg.Client({ connectionString: `${pooler.url}?extra_float_digits=3` }),
    );
    const backends = [];
    for (const client of clients) {
      await client.connect();
      const { rows } = await client.query("select pg_backend_pid() as pid, current_database()");
      backends.push(rows[0]);
    }
    expect(backends[0]).toEqual(backends[1]);
    expect(backends[0].current_database).toBe(new URL(url).pathname.slice(1));
    await Promise.all(clients.map((client) => client.end()));

    await Promise.all([pooler.stop(), pooler.stop()]);
    await expect(queryServer(pooler.url, "select 1")).rejects.toThrow("ECONNREFUSED");
    expect([...(await readdir(temporary)), ...processesMentioning(temporary)]).toEqual([]);
    await dropDatabase(server.url, url);
  });

  it("lets nobody in with a wrong password", async () => {
    await using pooler = await startPgBouncer({ url: server.url, poolMode: "session" });
    const url = new URL(pooler.url);
    url.password = "guess";
    await expect(queryServer(url.href, "select 1")).rejects.toThrow(/SASL|password/);
    await queryServer(pooler.url, "select 1");
  });

  it("says why it did not start", async () => {
    const start = startPgBouncer({ url: server.url, settings: { pool_mode: "none" } });
    await expect(start).rejects.toThrow(/PgBouncer ended while it started[\s\S]*pool_mode/);
  });
});
