// How another OS process opens the outbox of a conformance case.
import { defineStore } from "@outbox/core";
import type { StoreProcessModule } from "@outbox/store-conformance";
import pg from "pg";
import { createPostgresDriver } from "../create-postgres-store.js";
import { outboxNames } from "../outbox-names.js";
import { postgresRawProbes } from "./postgres-raw-probes.js";

export interface OpenStoreArguments {
  readonly url: string;
  readonly directUrl: string;
  readonly table: string;
  readonly onDelivered: "keep" | "delete";
}

export const openStore: StoreProcessModule["openStore"] = async (args, { wrapDriver }) => {
  const { url, table, onDelivered } = args as OpenStoreArguments;
  const driver = createPostgresDriver({
    connectionString: url,
    listen: false,
    table,
    onDelivered,
  });
  return defineStore(wrapDriver === undefined ? driver : wrapDriver(driver));
};

export const openRaw: StoreProcessModule["openRaw"] = async (args) => {
  const { directUrl, table } = args as OpenStoreArguments;
  const pool = new pg.Pool({ connectionString: directUrl, max: 2 });
  return postgresRawProbes(
    outboxNames({ table }),
    async (text, values) => (await pool.query(text, values)).rows,
  );
};
