import { PGlite } from "@electric-sql/pglite";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { drizzle as drizzlePglite } from "drizzle-orm/pglite";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import type { PostgresTransaction } from "../transaction.js";
import { createPrismaClient } from "./prisma-client.js";

/** One library's way of a transaction, with the handle that its users pass to `enqueue`. */
export interface TransactionLibrary {
  readonly name: string;
  /** Runs `work` in a transaction: commits, or rolls back if it throws. */
  transaction<Result>(work: (scope: TransactionScope) => Promise<Result>): Promise<Result>;
  /** A handle as a user mistakes it for a transaction. */
  readonly mistaken: PostgresTransaction;
  /** Runs a statement outside of transactions. */
  run(text: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface TransactionScope {
  readonly tx: PostgresTransaction;
  run(text: string): Promise<unknown>;
  /** Runs `work` inside a savepoint, which is rolled back if it throws. */
  savepoint(work: (tx: PostgresTransaction) => Promise<void>): Promise<void>;
}

export type OpenLibrary = (url: string) => Promise<TransactionLibrary>;

/** A savepoint by hand, where the library has none of its own. */
const savepointBySql =
  (run: TransactionScope["run"], tx: PostgresTransaction): TransactionScope["savepoint"] =>
  async (work) => {
    await run("savepoint by_hand");
    try {
      await work(tx);
    } catch (error) {
      await run("rollback to savepoint by_hand");
      throw error;
    }
  };

export const openPg: OpenLibrary = async (connectionString) =>
  pgLibrary("pg", new pg.Pool({ connectionString }));

/** `getTransactionStatus` came with pg 8.21. */
export const openOldPg: OpenLibrary = async (connectionString) => {
  class OldClient extends pg.Client {
    override getTransactionStatus = undefined as never;
  }
  return pgLibrary("pg before 8.21", new pg.Pool({ connectionString, Client: OldClient as never }));
};

async function pgLibrary(name: string, pool: pg.Pool): Promise<TransactionLibrary> {
  const idle = await pool.connect();
  return {
    name,
    async transaction(work) {
      const client = await pool.connect();
      const run = (text: string) => client.query(text);
      try {
        await client.query("begin");
        const result = await work({ tx: client, run, savepoint: savepointBySql(run, client) });
        await client.query("commit");
        return result;
      } catch (error) {
        await client.query("rollback");
        throw error;
      } finally {
        client.release();
      }
    },
    mistaken: idle,
    run: (text) => pool.query(text),
    async close() {
      idle.release();
      await pool.end();
    },
  };
}

export const openPostgresJs: OpenLibrary = async (url) => {
  const sql = postgres(url, { transform: postgres.camel, onnotice: () => {} });
  const handle =
    (tx: Pick<postgres.TransactionSql, "unsafe">): PostgresTransaction =>
    (text, values) =>
      tx.unsafe(text, values as never[]);
  return {
    name: "postgres.js",
    transaction: (work) =>
      sql.begin((tx) =>
        work({
          tx: handle(tx),
          run: (text) => tx.unsafe(text),
          savepoint: async (inner) => {
            await tx.savepoint((nested) => inner(handle(nested)));
          },
        }),
      ) as Promise<never>,
    mistaken: handle(sql),
    run: (text) => sql.unsafe(text),
    close: () => sql.end(),
  };
};

export const openKysely: OpenLibrary = async (connectionString) => {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString }) }),
  });
  const handle =
    (trx: Pick<Kysely<unknown>, "executeQuery">): PostgresTransaction =>
    (text, values) =>
      trx.executeQuery(CompiledQuery.raw(text, values));
  return {
    name: "Kysely",
    transaction: (work) =>
      db.transaction().execute((trx) => {
        const run = (text: string) => trx.executeQuery(CompiledQuery.raw(text));
        return work({ tx: handle(trx), run, savepoint: savepointBySql(run, handle(trx)) });
      }),
    mistaken: handle(db),
    run: (text) => db.executeQuery(CompiledQuery.raw(text)),
    close: () => db.destroy(),
  };
};

interface DrizzleSession {
  readonly _: {
    readonly session: {
      prepareQuery(
        query: { sql: string; params: unknown[] },
        fields: undefined,
        name: undefined,
        isArrayMode: boolean,
      ): { execute(): Promise<unknown> };
    };
  };
}

interface DrizzleDatabase extends DrizzleSession {
  transaction<Result>(work: (tx: DrizzleDatabase) => Promise<Result>): Promise<Result>;
  execute(text: string): Promise<unknown>;
}

function drizzleLibrary(
  name: string,
  db: DrizzleDatabase,
  close: () => Promise<void>,
): TransactionLibrary {
  const handle =
    (tx: DrizzleSession): PostgresTransaction =>
    (text, values) =>
      tx._.session
        .prepareQuery({ sql: text, params: values }, undefined, undefined, false)
        .execute() as Promise<readonly unknown[]>;
  return {
    name,
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          tx: handle(tx),
          run: (text) => tx.execute(text),
          savepoint: (inner) => tx.transaction((nested) => inner(handle(nested))),
        }),
      ),
    mistaken: handle(db),
    run: (text) => db.execute(text),
    close,
  };
}

export const openDrizzlePg: OpenLibrary = async (connectionString) => {
  const pool = new pg.Pool({ connectionString });
  return drizzleLibrary("Drizzle on pg", drizzlePg(pool) as unknown as DrizzleDatabase, () =>
    pool.end(),
  );
};

export const openDrizzlePostgresJs: OpenLibrary = async (url) => {
  const sql = postgres(url, { onnotice: () => {} });
  return drizzleLibrary(
    "Drizzle on postgres.js",
    drizzlePostgresJs(sql) as unknown as DrizzleDatabase,
    () => sql.end(),
  );
};

export const openPrisma: OpenLibrary = async (url) => {
  const prisma = await createPrismaClient(url);
  return {
    name: "Prisma",
    transaction: (work) =>
      prisma.$transaction((tx) => {
        const handle: PostgresTransaction = (text, values) => tx.$queryRawUnsafe(text, ...values);
        const run = (text: string) => tx.$queryRawUnsafe(text);
        return work({ tx: handle, run, savepoint: savepointBySql(run, handle) });
      }),
    mistaken: (text, values) => prisma.$queryRawUnsafe(text, ...values),
    run: (text) => prisma.$queryRawUnsafe(text),
    close: () => prisma.$disconnect(),
  };
};

/** PGlite by itself, and beneath Drizzle; the URL is not looked at. */
export async function openPglite(): Promise<{
  readonly pglite: PGlite;
  readonly library: TransactionLibrary;
  readonly drizzle: TransactionLibrary;
}> {
  const pglite = await PGlite.create();
  const library: TransactionLibrary = {
    name: "PGlite",
    transaction: (work) =>
      pglite.transaction((tx) => {
        const run = (text: string) => tx.exec(text);
        return work({ tx, run, savepoint: savepointBySql(run, tx) });
      }),
    mistaken: pglite,
    run: (text) => pglite.exec(text),
    close: () => pglite.close(),
  };
  const drizzle = drizzleLibrary(
    "Drizzle on PGlite",
    drizzlePglite(pglite) as unknown as DrizzleDatabase,
    async () => {},
  );
  return { pglite, library, drizzle };
}
