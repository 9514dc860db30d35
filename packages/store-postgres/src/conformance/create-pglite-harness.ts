import { PGlite, type Transaction } from "@electric-sql/pglite";
import { defineStore } from "@outbox/core";
import type {
  CallerTransaction,
  CreateOutboxOptions,
  OutboxUnderTest,
  StoreHarness,
  StoreUnderTest,
} from "@outbox/store-conformance";
import { createPostgresDriver } from "../create-postgres-store.js";
import { outboxNames } from "../outbox-names.js";
import { postgresRawProbes, type RawQuery, shiftInstants } from "./postgres-raw-probes.js";

/** Stores over one PGlite, which is one connection: there is no other session to race with. */
export async function createPgliteHarness(): Promise<StoreHarness> {
  const pglite = await PGlite.create();
  let count = 0;
  return {
    createOutbox: (options = {}) => createOutbox(pglite, `outbox_${++count}`, options),
    close: () => pglite.close(),
  };
}

async function createOutbox(
  pglite: PGlite,
  table: string,
  { wrapDriver, onDelivered = "keep" }: CreateOutboxOptions,
): Promise<OutboxUnderTest> {
  const names = outboxNames({ table });
  const query: RawQuery = async (text, values) =>
    (await pglite.query<Record<string, unknown>>(text, values)).rows;
  const stores: StoreUnderTest[] = [];
  const transactions: CallerTransaction[] = [];
  const openStore = async (): Promise<StoreUnderTest> => {
    const driver = createPostgresDriver({ pglite, table, onDelivered });
    const store = defineStore(wrapDriver === undefined ? driver : wrapDriver(driver));
    stores.push(store as StoreUnderTest);
    return store as StoreUnderTest;
  };
  const store = await openStore();
  await store.migrate?.();
  return {
    store,
    openStore,
    raw: postgresRawProbes(names, query),
    time: { mode: "shift", advance: (ms) => shiftInstants(names, query, ms) },
    transactions: {
      async begin({ isolation = "read-committed" } = {}) {
        const transaction = await beginTransaction(pglite, isolation.replace("-", " "));
        transactions.push(transaction);
        return transaction;
      },
      isolationLevels: ["read-committed", "repeatable-read", "serializable"],
      concurrent: false,
    },
    nonTransactions: async () => {
      let over: Transaction | undefined;
      await pglite.transaction(async (tx) => {
        over = tx;
      });
      return [
        { description: "a PGlite database", tx: pglite },
        { description: "a PGlite transaction that is over", tx: over },
      ];
    },
    async close() {
      for (const transaction of transactions) await transaction.rollback();
      for (const one of stores) await one.close();
      await pglite.exec(
        `drop table ${names.quoted.table}, ${names.quoted.migrationTable} cascade; drop function ${names.quoted.enqueueFunction}`,
      );
    },
  };
}

/** PGlite's transactions are callbacks; this one lasts until it is told to end. */
async function beginTransaction(pglite: PGlite, isolation: string): Promise<CallerTransaction> {
  let end: (how: "commit" | "rollback") => void = () => {};
  const ended = new Promise<"commit" | "rollback">((resolve) => {
    end = resolve;
  });
  let done: Promise<void> = Promise.resolve();
  const tx = await new Promise<Transaction>((resolve, reject) => {
    done = pglite.transaction(async (opened) => {
      await opened.exec(`set transaction isolation level ${isolation}`);
      resolve(opened);
      if ((await ended) === "rollback") await opened.rollback();
    });
    done.catch(reject);
  });
  const endAs = async (how: "commit" | "rollback") => {
    end(how);
    await done;
  };
  return { tx, commit: () => endAs("commit"), rollback: () => endAs("rollback") };
}
