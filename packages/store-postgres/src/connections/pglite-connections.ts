import type { Row, Statement } from "../sql/statement.js";
import type { Connections, Session } from "./connections.js";
import { inPhase } from "./error-phase.js";

interface PgliteQueryOptions {
  readonly rowMode?: "array" | "object";
  readonly parsers?: Record<number, (value: string) => unknown>;
  readonly serializers?: Record<number, (value: never) => string>;
}

interface PgliteQueries {
  query(
    text: string,
    values?: unknown[],
    options?: PgliteQueryOptions,
  ): Promise<{ rows: unknown[] }>;
  exec(sql: string): Promise<unknown>;
}

/** What is needed of a PGlite database. */
export interface Pglite extends PgliteQueries {
  readonly waitReady: Promise<void>;
  transaction<Result>(work: (tx: PgliteTransaction) => Promise<Result>): Promise<Result>;
  listen(channel: string, callback: (payload: string) => void): Promise<() => Promise<void>>;
}

/** What is needed of a PGlite transaction. */
export interface PgliteTransaction extends PgliteQueries {
  rollback(): Promise<void>;
  readonly closed: boolean;
}

/** Types of columns and parameters: text, int4, int8, float8, and arrays of text and int4. */
const typesInUse = [25, 23, 20, 701, 1009, 1007];

/** Text in, text out: parsers and serializers that the application gave its PGlite have no say. */
export const rawPgliteOptions = {
  parsers: Object.fromEntries(typesInUse.map((oid) => [oid, (value: string) => value])),
  serializers: Object.fromEntries(typesInUse.map((oid) => [oid, (value: string) => value])),
} as const satisfies PgliteQueryOptions;

/** Statements over PGlite: one connection, whose statements wait for its transactions. */
export function pgliteConnections(pglite: Pglite): Connections {
  return {
    query: (statement) => inPhase("query", () => run(pglite, statement)),
    transaction: (work: (session: Session) => Promise<never>) =>
      inPhase("query", () =>
        pglite.transaction((tx) =>
          work({
            query: (statement) => run(tx, statement),
            async script(sql) {
              await tx.exec(sql);
            },
          }),
        ),
      ),
    async close() {},
  };
}

async function run(queries: PgliteQueries, { text, values }: Statement): Promise<readonly Row[]> {
  const { rows } = await queries.query(text, [...values], {
    ...rawPgliteOptions,
    rowMode: "array",
  });
  return rows as Row[];
}
