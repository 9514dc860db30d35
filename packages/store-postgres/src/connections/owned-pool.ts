import type { Client, Pool } from "pg";
import type { Connections } from "./connections.js";
import type { PgPool, PgPoolClient, PgSettings } from "./pg-types.js";
import { type PoolConnectionsOptions, poolConnections } from "./pool-connections.js";

/** Loaded when it is needed: whoever hands in a pool, a client or PGlite need not have this one. */
export async function loadPg(): Promise<{ Client: typeof Client; Pool: typeof Pool }> {
  const module = await import("pg");
  // A CommonJS module before pg 8.15.
  return "default" in module && module.default !== undefined ? module.default : module;
}

/** Statements over a pool that the store opens at its first statement, and closes. */
export function ownedPoolConnections(
  settings: PgSettings,
  options: Pick<PoolConnectionsOptions, "queryTimeoutMs" | "preparedStatements">,
): Connections {
  let opening: Promise<PgPool & { end(): Promise<void> }> | undefined;

  async function open() {
    const { Pool } = await loadPg();
    const pool = new Pool({
      application_name: "outbox",
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      // A producer that forgets close() must not keep its process alive.
      allowExitOnIdle: true,
      ...settings,
    });
    // Without a listener, a server that ends an idle connection ends the process.
    pool.on("error", () => {});
    return pool as unknown as PgPool & { end(): Promise<void> };
  }

  return poolConnections(() => (opening ??= open()), {
    ...options,
    prepare: setReadCommitted,
    async end() {
      const opened = opening;
      opening = undefined;
      await (await opened)?.end();
    },
  });
}

/**
 * Sets READ COMMITTED where something else is the default. Only there: a setting of the session
 * would be another client's too behind a pooler, and a start-up option is refused by PgBouncer.
 */
async function setReadCommitted(client: PgPoolClient): Promise<void> {
  await client.query(
    `select set_config('default_transaction_isolation', 'read committed', false)
where current_setting('default_transaction_isolation') <> 'read committed'`,
  );
}

/** The settings of a single connection among those of a pool. */
export function clientSettings(settings: PgSettings): PgSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !poolSettings.has(name)));
}

const poolSettings: ReadonlySet<string> = new Set([
  "Client",
  "Promise",
  "allowExitOnIdle",
  "idleTimeoutMillis",
  "log",
  "max",
  "maxLifetimeSeconds",
  "maxUses",
  "min",
  "onConnect",
  "verify",
]);
