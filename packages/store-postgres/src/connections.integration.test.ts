import { setTimeout as sleep } from "node:timers/promises";
import type { ClaimCommand } from "@outbox/core";
import pg from "pg";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { classifyError } from "./classify-error.js";
import { startCuttableProxy } from "./conformance/cuttable-proxy.js";
import { createPostgresDriver, createPostgresStore } from "./create-postgres-store.js";
import { useTestDatabase } from "./testing/test-database.js";

const database = useTestDatabase();
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  await createPostgresStore({ pool: database.pool }).migrate();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const command: ClaimCommand = {
  kind: "any",
  workerId: "worker",
  leaseDurationMs: 60_000,
  maxCount: 100,
  maxBytes: null,
  types: null,
  suspects: "exclude",
  claimId: null,
  after: null,
  tokenPrefix: "prefix",
};

function openDriver(options: Partial<Parameters<typeof createPostgresDriver>[0]> = {}) {
  const driver = createPostgresDriver({
    connectionString: database.url,
    listen: false,
    ...options,
  });
  closers.push(() => driver.close());
  return driver;
}

const backends = async (applicationName: string) =>
  (
    await database.pool.query(
      "select pid, state from pg_stat_activity where application_name = $1 and datname = current_database()",
      [applicationName],
    )
  ).rows;

const killBackends = (applicationName: string) =>
  database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()",
    [applicationName],
  );

describe("a pool of the store's own", () => {
  it("is opened by the first call, not by the factory", async () => {
    const driver = openDriver({ connectionString: "postgresql://nobody@127.0.0.1:1/nowhere" });
    const error = await driver.claim(command).catch((thrown: unknown) => thrown);
    expect(classifyError(error)).toBe("transient");
  });

  it("reads committed whatever the database's default is", async () => {
    const role = `serial_${Math.random().toString(36).slice(2)}`;
    await database.pool.query(
      `create role ${role} superuser login password 'secret'; alter role ${role} set default_transaction_isolation = 'serializable'`,
    );
    const url = new URL(database.url);
    url.username = role;
    url.password = "secret";
    const driver = openDriver({ connectionString: url.href });
    expect(await driver.schema.diagnose()).not.toContainEqual(
      expect.objectContaining({ code: "outbox.doctor.isolation" }),
    );
    const pool = new pg.Pool({ connectionString: url.href });
    expect(
      await openDriver({ pool, connectionString: undefined }).schema.diagnose(),
    ).toContainEqual(expect.objectContaining({ code: "outbox.doctor.isolation" }));
    await pool.end();
    await driver.close();
    await database.pool.query(`drop role ${role}`);
  });

  it("survives the loss of idle connections", async () => {
    const driver = openDriver({
      connection: { connectionString: database.url, application_name: "idle" },
      connectionString: undefined,
    });
    await driver.claim(command);
    await killBackends("idle");
    await vi.waitFor(async () => expect(await backends("idle")).toEqual([]));
    expect((await driver.claim(command)).claims).toEqual([]);
  });

  it("takes the loss of a connection inside a statement for an unknown outcome", async () => {
    const driver = openDriver({
      connection: { connectionString: database.url, application_name: "busy" },
      connectionString: undefined,
    });
    const blocker = await database.pool.connect();
    await blocker.query("begin; lock table outbox_entry");
    const claim = driver.claim(command).catch((thrown: unknown) => thrown);
    await vi.waitFor(async () =>
      expect(await backends("busy")).toContainEqual(expect.objectContaining({ state: "active" })),
    );
    const proxyless = await claimThroughCutProxy();
    await blocker.query("rollback");
    blocker.release();
    expect(proxyless).toBe("unknown-outcome");
    await claim;
  });

  /** The server hears nothing of it, and pg has no code for it. */
  async function claimThroughCutProxy(): Promise<string> {
    const proxy = await startCuttableProxy(database.url);
    closers.push(() => proxy.close());
    const driver = openDriver({ connectionString: proxy.url });
    const claim = driver.claim(command).catch((thrown: unknown) => thrown);
    await sleep(200);
    proxy.cut();
    return classifyError(await claim);
  }

  it("takes a shutdown for transient: the statement was rolled back", async () => {
    const driver = openDriver({
      connection: { connectionString: database.url, application_name: "shut down" },
      connectionString: undefined,
    });
    const blocker = await database.pool.connect();
    await blocker.query("begin; lock table outbox_entry");
    const claim = driver.claim(command).catch((thrown: unknown) => thrown);
    await vi.waitFor(async () =>
      expect(await backends("shut down")).toContainEqual(
        expect.objectContaining({ state: "active" }),
      ),
    );
    await killBackends("shut down");
    expect(await claim).toMatchObject({ code: "57P01" });
    expect(classifyError(await claim)).toBe("transient");
    await blocker.query("rollback");
    blocker.release();
    expect((await driver.claim(command)).claims).toEqual([]);
  });

  it("gives up a network that went silent, and its connection", async () => {
    const proxy = await startCuttableProxy(database.url);
    closers.push(() => proxy.close());
    const driver = openDriver({ connectionString: proxy.url, queryTimeoutMs: 300 });
    await driver.claim(command);
    proxy.freeze();
    const error = await driver.claim(command).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "OUTBOX_QUERY_TIMEOUT" });
    expect(classifyError(error)).toBe("unknown-outcome");
    // A new connection, and no half-read answer of the old one.
    expect((await driver.claim(command)).claims).toEqual([]);
  });

  it("drops a connection to a server that is read-only", async () => {
    const driver = openDriver({
      connection: {
        connectionString: database.url,
        application_name: "standby",
        options: "-c default_transaction_read_only=on",
      },
      connectionString: undefined,
    });
    const [before, error] = await (async () => {
      await driver.selection.find("x");
      const rows = await backends("standby");
      return [rows, await driver.claim(command).catch((thrown: unknown) => thrown)] as const;
    })();
    expect(error).toMatchObject({ code: "25006" });
    expect(classifyError(error)).toBe("transient");
    await driver.selection.find("x");
    const after = await backends("standby");
    expect(after).toHaveLength(1);
    expect(after[0].pid).not.toBe(before[0].pid);
  });

  it("keeps a connection that answered with an error", async () => {
    const driver = openDriver({
      connection: { connectionString: database.url, application_name: "kept" },
      connectionString: undefined,
    });
    await driver.selection.find("x");
    const [before] = await backends("kept");
    await expect(driver.selection.find("a\u0000b")).rejects.toMatchObject({ code: "22021" });
    await driver.selection.find("x");
    expect(await backends("kept")).toEqual([before]);
  });
});

describe("what was handed in", () => {
  it("a pool is not closed, and its clients are given back", async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    closers.push(() => pool.end());
    const driver = createPostgresDriver({ pool });
    await driver.claim(command);
    await expect(driver.selection.find("a\u0000b")).rejects.toThrow();
    await driver.claim(command);
    await driver.close();
    expect(await pool.query("select 1 as one")).toMatchObject({ rows: [{ one: 1 }] });
  });

  it("a client runs one statement after the other, and is not closed", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    closers.push(() => client.end());
    const store = createPostgresStore({ client });
    await Promise.all(
      Array.from({ length: 5 }, () =>
        store.enqueue([{ type: "x" }, { type: "y" }], { autonomous: true }),
      ),
    );
    const batches = await Promise.all([
      store.claim({ workerId: "a", maxCount: 5 }),
      store.claim({ workerId: "b", maxCount: 5 }),
    ]);
    const claims = batches.flatMap((batch) => batch.claims);
    expect(claims).toHaveLength(10);
    await store.completeClaims(claims.map((claim) => ({ claim, kind: "delivered" })));
    await store.close();
    expect(await client.query("select 1 as one")).toMatchObject({ rows: [{ one: 1 }] });
  });

  it("a client inside a transaction is refused, for it would hold back claims", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    closers.push(() => client.end());
    const store = createPostgresStore({ client });
    await client.query("begin");
    await expect(store.claim({ workerId: "w" })).rejects.toMatchObject({
      code: "outbox.client_in_transaction",
    });
    await client.query("rollback");
    await store.claim({ workerId: "w" });
  });
});

describe("prepared statements", () => {
  it("are used where they are asked for, and not else", async () => {
    for (const preparedStatements of [true, false]) {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      const driver = createPostgresDriver({ client, preparedStatements });
      for (let round = 0; round < 3; round++) await driver.claim(command);
      const { rows } = await client.query("select name from pg_prepared_statements");
      expect(rows.length > 0, `preparedStatements: ${preparedStatements}`).toBe(preparedStatements);
      await client.end();
    }
  });
});

describe("options", () => {
  const { pool } = { pool: { connect: async () => ({}) as never } };
  it.each([
    [{}, /exactly one of pool, client, .*none is given/],
    [{ pool, connectionString: "x" }, /pool and connectionString are given/],
    [{ pool, tabel: "x" }, /options\.tabel is not known here; known are/],
    [{ pool: {} }, /options\.pool must be a pg Pool: it has no connect\(\)/],
    [{ client: {} }, /options\.client must be a connected pg Client/],
    [{ pglite: {} }, /options\.pglite must be a PGlite database/],
    [{ pool, onDelivered: "drop" }, /options\.onDelivered must be "keep" or "delete"/],
    [{ pool, queryTimeoutMs: 5 }, /options\.queryTimeoutMs must be a duration in ms from 100/],
    [{ pool, notify: { intervalMs: -1 } }, /options\.notify\.intervalMs must be a duration/],
    [{ pool, listenKeepAliveMs: Number.NaN }, /options\.listenKeepAliveMs/],
    [null, /options must be an object/],
  ])("%j is refused", (options, reason) => {
    expect(() => createPostgresStore(options as never)).toThrow(reason);
  });
});
