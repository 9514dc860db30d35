import { NotATransactionError } from "@outbox/core";
import { pgQueryConfig } from "./connections/pg-types.js";
import { rawPgliteOptions } from "./connections/pglite-connections.js";
import type { Statement } from "./sql/statement.js";

/** A connection inside an open transaction: a `pg` client, a PGlite `Transaction`, or alike. */
export interface QueryableTransaction {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/**
 * Runs a statement in the caller's open transaction. Statements have `$1` placeholders, values are
 * strings; the rows come back, as an array or in `rows`.
 */
export type TransactionFunction = (
  text: string,
  values: unknown[],
) => PromiseLike<{ readonly rows: readonly unknown[] } | readonly unknown[]>;

/** What `enqueue(..., { tx })` takes. */
export type PostgresTransaction = QueryableTransaction | TransactionFunction;

/** The caller's transaction, as the driver uses it. */
export interface OpenTransaction {
  run(statement: Statement): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Whether the handle itself says that it is an open transaction; else the statement must prove it. */
  readonly isKnown: boolean;
}

type Handle = Record<string, unknown> & {
  query(...args: unknown[]): Promise<{ rows: readonly unknown[] }>;
};

/**
 * Looks at what was given as `tx`.
 *
 * @throws NotATransactionError if it is none, before anything is sent
 */
export async function openTransaction(tx: unknown): Promise<OpenTransaction> {
  if (typeof tx === "function") return throughFunction(tx as TransactionFunction);
  if (typeof tx !== "object" || tx === null || typeof (tx as Handle).query !== "function") {
    throw new NotATransactionError(
      "tx is neither { query(text, values) } nor a function (text, values) => rows. Pass the pg client that has begun the transaction, or for an ORM the one-liner from docs/stores/postgres.md, e.g. Kysely: (text, values) => trx.executeQuery(CompiledQuery.raw(text, values))",
    );
  }
  const handle = tx as Handle;
  refusePool(handle);
  refusePgliteDatabase(handle);
  if (isPgClient(handle)) return throughPgClient(handle);
  if (isPgliteTransaction(handle)) return throughPglite(handle);
  return throughFunction((text, values) => handle.query(text, values));
}

function throughFunction(run: TransactionFunction): OpenTransaction {
  return {
    isKnown: false,
    async run({ text, values }) {
      const result = await run(text, [...values]);
      const rows = Array.isArray(result) ? result : (result as { rows?: unknown })?.rows;
      if (Array.isArray(rows)) return rows;
      throw new NotATransactionError(
        "the function given as tx did not return the statement's rows (an array, or an object with `rows`); return what the query returned",
      );
    },
  };
}

async function throughPgClient(client: Handle): Promise<OpenTransaction> {
  const run = async (statement: Statement) => {
    const { rowMode: _asArrays, ...config } = pgQueryConfig(statement);
    return (await client.query(config)).rows as readonly Record<string, unknown>[];
  };
  // Since pg 8.21: I idle, T in a transaction, E in a failed one, null not connected.
  const { getTransactionStatus } = client;
  if (typeof getTransactionStatus !== "function") return { run, isKnown: false };
  const status = () => getTransactionStatus.call(client) as string | null;
  // It is that of the last answer: a BEGIN may be on its way. An answer more settles it.
  if (status() === "I") await client.query("select 1");
  if (status() === "T" || status() === "E") return { run, isKnown: true };
  throw new NotATransactionError(
    "the pg client given as tx has no open transaction, so the entry would stay even if your own writes are rolled back. Call enqueue between BEGIN and COMMIT, on the same client; to enqueue without a transaction, pass { autonomous: true }",
  );
}

function throughPglite(tx: Handle): OpenTransaction {
  if (tx["closed"] === true) {
    throw new NotATransactionError(
      "the PGlite transaction given as tx is over; await enqueue inside the callback of transaction()",
    );
  }
  return {
    isKnown: true,
    async run({ text, values }) {
      const { rows } = await tx.query(text, [...values], rawPgliteOptions);
      return rows as readonly Record<string, unknown>[];
    },
  };
}

function refusePool(handle: Handle): void {
  if (typeof handle["connect"] !== "function" || typeof handle["totalCount"] !== "number") return;
  throw new NotATransactionError(
    "a pg Pool was given as tx: each of its statements runs on another connection, outside your transaction. Pass the client from pool.connect() that has begun the transaction",
  );
}

function refusePgliteDatabase(handle: Handle): void {
  if (typeof handle["transaction"] !== "function" || !("waitReady" in handle)) return;
  throw new NotATransactionError(
    "the PGlite database itself was given as tx; pass the tx that db.transaction(async (tx) => ...) hands out",
  );
}

function isPgClient(handle: Handle): boolean {
  return typeof handle["getTypeParser"] === "function" && typeof handle["on"] === "function";
}

function isPgliteTransaction(handle: Handle): boolean {
  return (
    typeof handle["exec"] === "function" &&
    typeof handle["rollback"] === "function" &&
    typeof handle["closed"] === "boolean"
  );
}
