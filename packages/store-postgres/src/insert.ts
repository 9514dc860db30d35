import { randomUUID } from "node:crypto";
import {
  EntryIdTakenError,
  type InsertedEntry,
  type InsertTarget,
  type NewEntry,
  NotATransactionError,
} from "@outbox/core";
import type { Connections } from "./connections/connections.js";
import { explainError } from "./schema-error.js";
import {
  existingColumns,
  existingStatement,
  insertColumns,
  insertOneStatement,
  insertStatement,
  leaveProofStatement,
  type TransactionProof,
} from "./sql/insert.js";
import type { Statement } from "./sql/statement.js";
import type { StoreContext } from "./store-context.js";
import { type OpenTransaction, openTransaction, type PostgresTransaction } from "./transaction.js";

/** Where the statements of one insert run. */
interface InsertSession {
  /** The rows' values by the names of `columns`. */
  run<Column extends string>(
    statement: Statement,
    columns: readonly Column[],
  ): Promise<readonly Readonly<Record<Column, string | null>>[]>;
  /** Whether it is known to be where it should be, so that no statement must prove it. */
  readonly isKnown: boolean;
}

/** How often what was in the way may have vanished before anyone could read it. */
const maxRounds = 5;

export async function insert(
  context: StoreContext,
  entries: readonly NewEntry[],
  target: InsertTarget<PostgresTransaction>,
): Promise<readonly InsertedEntry[]> {
  if (entries.length === 0) return [];
  try {
    if (target.autonomous !== true) {
      return await insertAll(context, callerSession(await openTransaction(target.tx)), entries);
    }
    if (entries.length === 1) {
      return await insertAll(context, ownSession(context.connections), entries);
    }
    // Several are all or none, and an id that is taken shows only after the others were written.
    return await context.connections.transaction((session) =>
      insertAll(context, ownSession(session), entries),
    );
  } catch (error) {
    throw explainError(error, context.names);
  }
}

async function insertAll(
  context: StoreContext,
  session: InsertSession,
  entries: readonly NewEntry[],
): Promise<readonly InsertedEntry[]> {
  const results = new Map<NewEntry, InsertedEntry>();
  for (let round = 1; results.size < entries.length; round++) {
    const open = entries.filter((entry) => !results.has(entry));
    const written = await write(context, session, open);
    for (const entry of open) {
      // The first of two equal pairs in one call is the one that was written.
      if (written.delete(pairOf(entry.envelope.envelopeId, entry.destination))) {
        results.set(entry, { enqueued: true, entryId: entry.entryId });
      }
    }
    const rest = open.filter((entry) => !results.has(entry));
    if (rest.length > 0) await resolveExisting(context, session, rest, results);
    if (round === maxRounds && results.size < entries.length) {
      throw new Error(
        `${entries.length - results.size} entries could be neither written nor found in ${maxRounds} rounds; they are deleted as fast as they are enqueued`,
      );
    }
  }
  return entries.map((entry) => results.get(entry) ?? { enqueued: false, entryId: entry.entryId });
}

/** Writes what is not there; answers the pairs that were written. */
async function write(
  context: StoreContext,
  session: InsertSession,
  entries: readonly NewEntry[],
): Promise<Set<string>> {
  const notify = entries.some(isDueSoon) && context.notify?.take() === true;
  const attempt = (proof: TransactionProof) =>
    session.run(insertStatement(context.names, entries, { proof, notify }), insertColumns);
  const proof = session.isKnown ? "none" : "written";

  const [only, ...others] = entries;
  if (only !== undefined && others.length === 0 && !notify) {
    const statement = insertOneStatement(context.names, only, proof);
    const written = toPairs(await session.run(statement, insertColumns));
    // No row: it is there already, or nothing proved the transaction.
    if (written.size === 1 || session.isKnown) return written;
  } else {
    const rows = await attempt(proof);
    if (rows[0]?.proven !== "false") return toPairs(rows);
  }
  // Nothing was written in this transaction before; or there is none. A transaction remembers a
  // local setting until its end, and a statement by itself forgets it at once.
  const text = randomUUID();
  await session.run(leaveProofStatement(text), []);
  const rows = await attempt({ text });
  if (rows[0]?.proven !== "false") return toPairs(rows);
  throw new NotATransactionError(
    "what was given as tx runs each statement by itself, not in one open transaction, so the entry would stay even if your own writes are rolled back; nothing was written. Use the transaction's own handle (Drizzle, Prisma: the `tx` of the callback; Kysely: `trx`; postgres.js: the `sql` of begin), or pass { autonomous: true }",
  );
}

function toPairs(
  rows: readonly Readonly<Record<(typeof insertColumns)[number], string | null>>[],
): Set<string> {
  return new Set(
    rows.flatMap(({ envelope, destination }) =>
      envelope === null ? [] : [pairOf(envelope, destination)],
    ),
  );
}

/** Finds what was in the way of the rest. */
async function resolveExisting(
  { names }: StoreContext,
  session: InsertSession,
  rest: readonly NewEntry[],
  results: Map<NewEntry, InsertedEntry>,
): Promise<void> {
  const rows = await session.run(existingStatement(names, rest), existingColumns);
  const idByPair = new Map(rows.map((row) => [pairOf(row.envelope, row.destination), row.id]));
  const ids = new Set(rows.map(({ id }) => id));
  for (const entry of rest) {
    const entryId = idByPair.get(pairOf(entry.envelope.envelopeId, entry.destination));
    if (typeof entryId === "string") results.set(entry, { enqueued: false, entryId });
    else if (ids.has(entry.entryId)) throw new EntryIdTakenError(entry.entryId);
  }
}

function ownSession(queries: Pick<Connections, "query">): InsertSession {
  return {
    isKnown: true,
    async run(statement, columns) {
      const rows = await queries.query(statement);
      return rows.map((row) => byName(columns, (_, index) => row[index] ?? null));
    },
  };
}

function callerSession(transaction: OpenTransaction): InsertSession {
  return {
    isKnown: transaction.isKnown,
    async run(statement, columns) {
      const rows = await transaction.run(statement);
      return rows.map((row) =>
        byName(columns, (column) => (row[column] as string | null | undefined) ?? null),
      );
    },
  };
}

function byName<Column extends string>(
  columns: readonly Column[],
  value: (column: Column, index: number) => string | null,
): Readonly<Record<Column, string | null>> {
  return Object.fromEntries(
    columns.map((column, index) => [column, value(column, index)]),
  ) as Record<Column, string | null>;
}

function isDueSoon({ available }: NewEntry): boolean {
  if (available === null) return true;
  return "inMs" in available ? available.inMs <= 0 : available.at.getTime() <= Date.now();
}

function pairOf(envelopeId: string | null, destination: string | null): string {
  return JSON.stringify([envelopeId, destination]);
}
