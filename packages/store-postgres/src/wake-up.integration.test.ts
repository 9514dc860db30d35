import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { PGlite } from "@electric-sql/pglite";
import type { WakeUpListener } from "@outbox/core";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startCuttableProxy } from "./conformance/cuttable-proxy.js";
import {
  createPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from "./create-postgres-store.js";
import { useTestDatabase } from "./testing/test-database.js";

const database = useTestDatabase();
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  await createPostgresStore({ pool: database.pool }).migrate();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function openStore(options: Partial<PostgresStoreOptions> = {}): PostgresStore {
  const store = createPostgresStore({
    pool: database.pool,
    listen: {
      connectionString: database.url,
      application_name: "listener",
      connectionTimeoutMillis: 1_000,
    },
    ...options,
  });
  closers.push(() => store.close());
  return store;
}

/** Counts wake-ups and remembers every change of the connection. */
function createListener(): WakeUpListener & {
  readonly wakeUps: () => number;
  readonly changes: readonly boolean[];
} {
  let count = 0;
  const changes: boolean[] = [];
  return {
    onWakeUp: () => {
      count += 1;
    },
    onConnectionChange: (connected) => {
      changes.push(connected);
    },
    wakeUps: () => count,
    changes,
  };
}

async function subscribe(store: PostgresStore, listener: WakeUpListener) {
  if (store.subscribe === undefined) throw new Error("the store has no wake-up facet");
  return store.subscribe(listener);
}

const killListeners = () =>
  database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener' and datname = current_database()",
  );

const enqueue = (store: PostgresStore) => store.enqueue({ type: "x" }, { autonomous: true });

describe("a wake-up", () => {
  it("comes with the commit of the enqueuing transaction, not before", async () => {
    const store = openStore();
    const listener = createListener();
    expect(await subscribe(store, listener)).toMatchObject({ connected: true });
    const client = await database.pool.connect();
    await client.query("begin");
    await store.enqueue({ type: "x" }, { tx: client });
    // Whatever had been announced would have come before the answer to this.
    await store.enqueue({ type: "x" }, { tx: client });
    await sleep(100);
    expect(listener.wakeUps()).toBe(0);
    await client.query("commit");
    client.release();
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
  });

  it("does not come of a rollback", async () => {
    const store = openStore();
    const listener = createListener();
    await subscribe(store, listener);
    const client = await database.pool.connect();
    await client.query("begin");
    await store.enqueue({ type: "x" }, { tx: client });
    await client.query("rollback");
    client.release();
    // A later one shows that an earlier one would have arrived.
    await enqueue(openStore());
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
  });

  it("comes at most once per interval of a producer", async () => {
    const store = openStore({ notify: { intervalMs: 60_000 } });
    const listener = createListener();
    await subscribe(store, listener);
    for (let index = 0; index < 20; index++) await enqueue(store);
    await enqueue(openStore());
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(2));
  });

  it("does not come for what is due later, nor for a duplicate, nor if turned off", async () => {
    const listener = createListener();
    await subscribe(openStore(), listener);
    await openStore().enqueue({ type: "x", availableInMs: 60_000 }, { autonomous: true });
    await openStore({ notify: false }).enqueue(
      { type: "x", envelopeId: "once" },
      { autonomous: true },
    );
    await openStore().enqueue({ type: "x", envelopeId: "once" }, { autonomous: true });
    await enqueue(openStore());
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
  });

  it("comes of the SQL function and of a redrive", async () => {
    const store = openStore();
    const listener = createListener();
    await subscribe(store, listener);
    await database.pool.query("select outbox_enqueue(type => 'x', envelope_id => 'by sql')");
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
    await database.pool.query("select outbox_enqueue(type => 'x', notify => false)");
    await store.markDeadLettered("by sql", { code: "x", message: "x", isRetryable: false });
    await store.redrive({ entryIds: ["by sql"] });
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(2));
  });

  it("goes to every subscription over one connection, until it is closed", async () => {
    const store = openStore();
    const [first, second] = [createListener(), createListener()];
    const subscription = await subscribe(store, first);
    await subscribe(store, second);
    const { rows } = await database.pool.query(
      "select pid from pg_stat_activity where application_name = 'listener'",
    );
    expect(rows).toHaveLength(1);
    await enqueue(openStore());
    await vi.waitFor(() => expect([first.wakeUps(), second.wakeUps()]).toEqual([1, 1]));
    await subscription.close();
    await subscription.close();
    expect(subscription.connected).toBe(false);
    await enqueue(openStore());
    await vi.waitFor(() => expect([first.wakeUps(), second.wakeUps()]).toEqual([1, 2]));
  });

  it("is not offered on a pool whose way to the server is not known", () => {
    expect(createPostgresStore({ pool: database.pool })).not.toHaveProperty("subscribe");
    expect(
      createPostgresStore({ connectionString: database.url, listen: false }),
    ).not.toHaveProperty("subscribe");
  });
});

describe("the listening connection", () => {
  it("comes back after its backend was killed", async () => {
    const store = openStore();
    const listener = createListener();
    const subscription = await subscribe(store, listener);
    await killListeners();
    await vi.waitFor(() => expect(listener.changes).toEqual([true, false, true]), 5_000);
    expect(subscription.connected).toBe(true);
    await enqueue(openStore());
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
  });

  it("comes back from a network that went silent without a word", async () => {
    const proxy = await startCuttableProxy(database.url);
    closers.push(() => proxy.close());
    const store = openStore({ listen: proxy.url, listenKeepAliveMs: 100 });
    const listener = createListener();
    const subscription = await subscribe(store, listener);
    proxy.freeze();
    await enqueue(openStore());
    await vi.waitFor(() => expect(listener.changes).toEqual([true, false, true]), 15_000);
    expect(subscription.connected).toBe(true);
    expect(listener.wakeUps()).toBe(0);
    await enqueue(openStore());
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
  });

  it("is tried again and again while the server refuses, and says so once", async () => {
    const proxy = await startCuttableProxy(database.url);
    closers.push(() => proxy.close());
    proxy.cut();
    const store = openStore({ listen: proxy.url });
    const listener = createListener();
    const subscription = await subscribe(store, listener);
    expect(subscription.connected).toBe(false);
    await sleep(1_000);
    expect(listener.changes).toEqual([false]);
    proxy.restore();
    await vi.waitFor(() => expect(listener.changes).toEqual([false, true]), 15_000);
    await enqueue(openStore());
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
  });

  it("is closed with the store, while it waits to try again too", async () => {
    const store = openStore({ listen: "postgresql://nobody@127.0.0.1:1/nowhere" });
    await subscribe(store, createListener());
    await store.close();
    const other = openStore();
    await subscribe(other, createListener());
    await other.close();
    await vi.waitFor(async () => {
      const { rows } = await database.pool.query(
        "select pid from pg_stat_activity where application_name = 'listener'",
      );
      expect(rows).toEqual([]);
    });
  });

  it("survives a listener that throws", async () => {
    const store = openStore();
    const listener = createListener();
    await subscribe(store, {
      onWakeUp: () => {
        throw new Error("a bug of the listener");
      },
      onConnectionChange: () => {
        throw new Error("another");
      },
    });
    await subscribe(store, listener);
    await enqueue(openStore());
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
  });
});

describe("PGlite", () => {
  it("listens by itself", async () => {
    const pglite = await PGlite.create();
    const store = createPostgresStore({ pglite });
    await store.migrate();
    const listener = createListener();
    const subscription = await subscribe(store, listener);
    await pglite.transaction(async (tx) => {
      await store.enqueue({ type: "x" }, { tx });
      expect(listener.wakeUps()).toBe(0);
    });
    await vi.waitFor(() => expect(listener.wakeUps()).toBe(1));
    await subscription.close();
    await store.close();
    await pglite.close();
  });
});

describe("a process", () => {
  it.each(["closes", "forgets"])("that %s its store ends by itself", async (how) => {
    const child = fork(new URL("./testing/short-process.ts", import.meta.url), {
      execArgv: ["--import", "tsx", "--conditions", "@outbox/source"],
      env: { ...process.env, OUTBOX_URL: database.url, OUTBOX_END: how },
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    const [code] = await once(child, "exit");
    clearTimeout(timer);
    expect(code).toBe(0);
  });
});
