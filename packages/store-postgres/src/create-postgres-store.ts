import {
  type DefinedStore,
  defineStore,
  type EventMap,
  InvalidArgumentError,
  type StoreOptions,
  type WakeUpFacet,
} from "@outbox/core";
import { clientConnections } from "./connections/client-connections.js";
import type { Connections } from "./connections/connections.js";
import { clientSettings, ownedPoolConnections } from "./connections/owned-pool.js";
import { pgNotifications } from "./connections/pg-notifications.js";
import type { PgClient, PgPool, PgSettings } from "./connections/pg-types.js";
import { type Pglite, pgliteConnections } from "./connections/pglite-connections.js";
import { pgliteNotifications } from "./connections/pglite-notifications.js";
import { poolConnections } from "./connections/pool-connections.js";
import { NotifyThrottle } from "./notify-throttle.js";
import { type OutboxNameOptions, outboxNames } from "./outbox-names.js";
import { createDriver } from "./postgres-driver.js";
import { createWakeUp } from "./wake-up.js";

/** How to reach the database: exactly one of these. */
export interface PostgresConnectionOptions {
  /** A `pg` Pool of the application's; never closed here. */
  readonly pool?: PgPool | undefined;
  /** A connected `pg` Client for this store alone; never closed here. */
  readonly client?: PgClient | undefined;
  /** A PGlite database; never closed here. */
  readonly pglite?: Pglite | undefined;
  /** A connection string, for a pool that the store opens at its first statement and closes. */
  readonly connectionString?: string | undefined;
  /** `pg` pool settings, for a pool that the store opens at its first statement and closes. */
  readonly connection?: PgSettings | undefined;
}

export interface PostgresStoreOptions
  extends StoreOptions,
    OutboxNameOptions,
    PostgresConnectionOptions {
  /**
   * What becomes of a delivered entry. Kept, a repeated enqueue of the same envelope is recognised
   * until it is purged; deleted, until it is delivered, and the table stays small.
   * @defaultValue `"keep"`
   */
  readonly onDelivered?: "keep" | "delete" | undefined;
  /**
   * Whether producers wake waiting workers by NOTIFY, at the commit of the enqueuing transaction,
   * and how often at most. `false`: never; workers then find new entries by polling.
   * @defaultValue `{ intervalMs: 50 }`
   */
  readonly notify?: false | { readonly intervalMs?: number | undefined } | undefined;
  /**
   * Settings of the direct connection on which a worker listens. For a pool or client that was
   * handed in there is no default: it may lead through a pooler, where LISTEN is lost.
   * `pool.options` will do if it does not.
   * @defaultValue the settings of the store's own pool; PGlite listens by itself; else `false`
   */
  readonly listen?: false | string | PgSettings | undefined;
  /**
   * How often the listening connection is asked whether it is still there, in ms; at least 100.
   * @defaultValue 10 000
   */
  readonly listenKeepAliveMs?: number | undefined;
  /**
   * How long to wait for the answer to one statement of a claim, transition or enqueue, in ms; at
   * least 100. Then its connection is given up, so that a dead network does not hold a worker.
   * @defaultValue 30 000
   */
  readonly queryTimeoutMs?: number | undefined;
  /**
   * Use named prepared statements, which spares the server the planning of each claim. Not through
   * a pooler in transaction mode.
   * @defaultValue false
   */
  readonly preparedStatements?: boolean | undefined;
}

/** The driver alone, for whoever puts something around it before `defineStore`. */
export function createPostgresDriver(options: PostgresStoreOptions) {
  refuseUnknownOptions(options);
  const names = outboxNames(options);
  const onDelivered = options.onDelivered ?? "keep";
  if (onDelivered !== "keep" && onDelivered !== "delete") {
    throw new InvalidArgumentError("options.onDelivered", 'must be "keep" or "delete"');
  }
  const notifyIntervalMs =
    options.notify === false
      ? null
      : requireMs("options.notify.intervalMs", options.notify?.intervalMs ?? 50, 0);
  return createDriver(
    {
      names,
      connections: resolveConnections(options),
      onDelivered,
      notify: notifyIntervalMs === null ? null : new NotifyThrottle(notifyIntervalMs),
    },
    resolveWakeUp(options, names.channel),
  );
}

/** An outbox in PostgreSQL; with wake-ups where there is a connection to listen on. */
export type PostgresStore<Events extends EventMap = EventMap> = DefinedStore<
  ReturnType<typeof createPostgresDriver>,
  Events
> &
  Partial<WakeUpFacet>;

/**
 * An outbox in PostgreSQL 13 or newer. Nothing is sent before the first call.
 *
 * @throws InvalidArgumentError naming the option
 */
export function createPostgresStore<Events extends EventMap = EventMap>(
  options: PostgresStoreOptions,
): PostgresStore<Events> {
  const driver = createPostgresDriver(options);
  return defineStore(driver, { source: options.source }) as PostgresStore<Events>;
}

const ways = ["pool", "client", "pglite", "connectionString", "connection"] as const;

const knownOptions: readonly string[] = [
  ...ways,
  "schema",
  "table",
  "source",
  "onDelivered",
  "notify",
  "listen",
  "listenKeepAliveMs",
  "queryTimeoutMs",
  "preparedStatements",
];

function refuseUnknownOptions(options: PostgresStoreOptions): void {
  if (typeof options !== "object" || options === null) {
    throw new InvalidArgumentError("options", "must be an object, such as { pool }");
  }
  for (const name of Object.keys(options)) {
    if (!knownOptions.includes(name)) {
      throw new InvalidArgumentError(
        `options.${name}`,
        `is not known here; known are: ${knownOptions.join(", ")}`,
      );
    }
  }
  const given = ways.filter((way) => options[way] !== undefined);
  if (given.length !== 1) {
    throw new InvalidArgumentError(
      "options",
      `must have exactly one of ${ways.join(", ")}; ${given.length === 0 ? "none is given" : `${given.join(" and ")} are given`}`,
    );
  }
}

function resolveConnections(options: PostgresStoreOptions): Connections {
  const queryTimeoutMs = requireMs("options.queryTimeoutMs", options.queryTimeoutMs ?? 30_000, 100);
  const preparedStatements = options.preparedStatements ?? false;
  const { pool, client, pglite } = options;
  if (pool !== undefined) {
    requireMethod("options.pool", pool, "connect", "a pg Pool");
    return poolConnections(async () => pool, { queryTimeoutMs, preparedStatements });
  }
  if (client !== undefined) {
    requireMethod("options.client", client, "query", "a connected pg Client");
    return clientConnections(client, { preparedStatements });
  }
  if (pglite !== undefined) {
    requireMethod("options.pglite", pglite, "transaction", "a PGlite database");
    return pgliteConnections(pglite);
  }
  return ownedPoolConnections(ownedSettings(options), { queryTimeoutMs, preparedStatements });
}

function resolveWakeUp(options: PostgresStoreOptions, channel: string) {
  const keepAliveIntervalMs = requireMs(
    "options.listenKeepAliveMs",
    options.listenKeepAliveMs ?? 10_000,
    100,
  );
  const { listen, pglite } = options;
  if (listen === false) return null;
  if (listen !== undefined) {
    const config =
      typeof listen === "string" ? { connectionString: listen } : clientSettings(listen);
    return createWakeUp(pgNotifications(config, channel), { keepAliveIntervalMs });
  }
  if (pglite !== undefined) {
    return createWakeUp(pgliteNotifications(pglite, channel), { keepAliveIntervalMs });
  }
  if (options.pool !== undefined || options.client !== undefined) return null;
  return createWakeUp(pgNotifications(clientSettings(ownedSettings(options)), channel), {
    keepAliveIntervalMs,
  });
}

function ownedSettings({ connection, connectionString }: PostgresStoreOptions): PgSettings {
  return connection ?? (connectionString === undefined ? {} : { connectionString });
}

function requireMs(argument: string, value: unknown, least: number): number {
  if (typeof value === "number" && value >= least && value <= 2 ** 31 - 1) return value;
  throw new InvalidArgumentError(
    argument,
    `must be a duration in ms from ${least} to ${2 ** 31 - 1}, not ${String(value)}`,
  );
}

function requireMethod(argument: string, value: unknown, method: string, what: string): void {
  if (typeof (value as Record<string, unknown> | null)?.[method] === "function") return;
  throw new InvalidArgumentError(argument, `must be ${what}: it has no ${method}()`);
}
