import { defineStore } from "@outbox/core";
import type {
  CallerTransaction,
  CreateOutboxOptions,
  NonTransaction,
  OutboxUnderTest,
  SessionVariant,
  StoreHarness,
  StoreUnderTest,
} from "@outbox/store-conformance";
import { createDatabase, dropDatabase } from "@outbox/temporary-postgres";
import pg from "pg";
import { createPostgresDriver } from "../create-postgres-store.js";
import { outboxNames } from "../outbox-names.js";
import { createClaimGate } from "./claim-gate.js";
import { startCuttableProxy } from "./cuttable-proxy.js";
import type { OpenStoreArguments } from "./open-store.js";
import { postgresRawProbes, type RawQuery, shiftInstants } from "./postgres-raw-probes.js";

export interface PostgresHarnessOptions {
  /** A server whose user may create databases. */
  readonly serverUrl: string;
  /** Puts something between stores and server, such as a pooler; raw probes go direct. */
  readonly pool?: (databaseUrl: string) => Promise<{ readonly url: string; stop(): Promise<void> }>;
}

/** Stores over `pg` pools, each with connections of its own. */
export async function createPostgresHarness({
  serverUrl,
  pool,
}: PostgresHarnessOptions): Promise<StoreHarness> {
  const directUrl = await createDatabase(serverUrl);
  const pooler = await pool?.(directUrl);
  const admin = new pg.Pool({ connectionString: directUrl, max: 5 });
  admin.on("error", () => {});
  const query: RawQuery = async (text, values) => (await admin.query(text, values)).rows;
  let count = 0;
  return {
    createOutbox: (options = {}) =>
      createOutbox(
        {
          directUrl,
          storeUrl: pooler?.url ?? directUrl,
          isPooled: pooler !== undefined,
          table: `outbox_${++count}`,
          query,
        },
        options,
      ),
    async close() {
      await admin.end();
      await pooler?.stop();
      await dropDatabase(serverUrl, directUrl);
    },
  };
}

interface Place {
  readonly directUrl: string;
  readonly storeUrl: string;
  readonly isPooled: boolean;
  readonly table: string;
  readonly query: RawQuery;
}

async function createOutbox(
  { directUrl, storeUrl, isPooled, table, query }: Place,
  { wrapDriver, onDelivered = "keep" }: CreateOutboxOptions,
): Promise<OutboxUnderTest> {
  const names = outboxNames({ table });
  const closers: (() => Promise<void>)[] = [];
  const proxy = await startCuttableProxy(storeUrl);
  closers.push(() => proxy.close());

  const openStore = async (
    config: pg.PoolConfig = { connectionString: storeUrl },
  ): Promise<StoreUnderTest> => {
    const pool = new pg.Pool({ max: 4, ...config });
    pool.on("error", () => {});
    const driver = createPostgresDriver({ pool, table, onDelivered, listen: directUrl });
    const store = defineStore(wrapDriver === undefined ? driver : wrapDriver(driver));
    closers.push(async () => {
      await store.close();
      await pool.end();
    });
    return store as StoreUnderTest;
  };

  const store = await openStore({ connectionString: proxy.url });
  await store.migrate?.();

  const begin = async (isolation = "read-committed"): Promise<CallerTransaction> => {
    const client = new pg.Client({ connectionString: storeUrl });
    client.on("error", () => {});
    await client.connect();
    let isOver = false;
    const end = async (command: string) => {
      if (isOver) return;
      isOver = true;
      await client.query(command);
    };
    closers.push(async () => {
      await end("rollback").catch(() => {});
      await client.end();
    });
    await client.query(`begin isolation level ${isolation.replace("-", " ")}`);
    return { tx: client, commit: () => end("commit"), rollback: () => end("rollback") };
  };

  const nonTransactions = async (): Promise<readonly NonTransaction[]> => {
    const pool = new pg.Pool({ connectionString: storeUrl, max: 2 });
    const idle = await pool.connect();
    const released = await pool.connect();
    released.release();
    closers.push(async () => {
      idle.release();
      await pool.end();
    });
    return [
      { description: "a pool", tx: pool },
      { description: "a client outside a transaction", tx: idle },
      { description: "a client that was given back", tx: released },
      {
        description: "a function that queries the pool",
        tx: (text: string, values: unknown[]) => pool.query(text, values),
      },
      {
        description: "an object that queries the pool",
        tx: { query: (text: string, values: unknown[]) => pool.query(text, values) },
      },
      { description: "an ORM's object", tx: { execute: () => {} } },
    ];
  };

  return {
    store,
    openStore: () => openStore(),
    raw: postgresRawProbes(names, query),
    time: { mode: "shift", advance: (ms) => shiftInstants(names, query, ms) },
    transactions: {
      begin: ({ isolation } = {}) => begin(isolation),
      isolationLevels: ["read-committed", "repeatable-read", "serializable"],
      concurrent: true,
    },
    nonTransactions,
    gate: createClaimGate(directUrl, names, query),
    processes: {
      module: new URL("./open-store.ts", import.meta.url).href,
      args: { url: storeUrl, directUrl, table, onDelivered } satisfies OpenStoreArguments,
      execArgv: ["--import", "tsx", "--conditions", "@outbox/source"],
    },
    connections: {
      async disconnect() {
        proxy.cut();
      },
      async reconnect() {
        proxy.restore();
      },
    },
    sessionVariants: isPooled ? pooledVariants(openStore, storeUrl) : variants(openStore, storeUrl),
    async close() {
      for (const close of closers.reverse()) await close();
      await query(
        `drop table if exists ${names.quoted.table}, ${names.quoted.migrationTable} cascade`,
      );
      await query(`drop function if exists ${names.quoted.enqueueFunction}`);
    },
  };
}

type OpenStore = (config: pg.PoolConfig) => Promise<StoreUnderTest>;

/** Types and result format belong to the client, whatever is between it and the server. */
function pooledVariants(openStore: OpenStore, connectionString: string): readonly SessionVariant[] {
  return [
    {
      name: "an application with type parsers of its own",
      openStore: () =>
        openStore({
          connectionString,
          types: { getTypeParser: () => () => "parsed by the application" },
        }),
    },
    {
      name: "binary results",
      openStore: () => openStore({ connectionString, binary: true } as pg.PoolConfig),
    },
  ];
}

function variants(openStore: OpenStore, connectionString: string): readonly SessionVariant[] {
  const withOptions = (name: string, settings: Readonly<Record<string, string>>) => ({
    name,
    openStore: () =>
      openStore({
        connectionString,
        options: Object.entries(settings)
          .map(([setting, value]) => `-c ${setting}=${value.replaceAll(" ", "\\ ")}`)
          .join(" "),
      }),
  });
  return [
    ...pooledVariants(openStore, connectionString),
    withOptions("a session far away, with other formats", {
      timezone: "Pacific/Chatham",
      datestyle: "German",
      intervalstyle: "sql_standard",
      bytea_output: "escape",
      extra_float_digits: "-15",
      standard_conforming_strings: "off",
      search_path: "pg_catalog",
    }),
    withOptions("isolation level repeatable read", {
      default_transaction_isolation: "repeatable read",
    }),
    withOptions("isolation level serializable", {
      default_transaction_isolation: "serializable",
    }),
    withOptions("generic plans, and none of the usual ones", {
      plan_cache_mode: "force_generic_plan",
      enable_hashjoin: "off",
      enable_mergejoin: "off",
      enable_hashagg: "off",
      enable_indexscan: "off",
      enable_bitmapscan: "off",
    }),
  ];
}
