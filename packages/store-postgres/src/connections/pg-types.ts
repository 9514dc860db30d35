import type { ConnectionOptions } from "node:tls";
import type { Row, Statement } from "../sql/statement.js";

/** What is needed of a `pg` result. */
export interface PgResult {
  readonly rows: readonly unknown[];
}

/** What is needed of a `pg` client. */
export interface PgClient {
  query(config: PgQueryConfig): Promise<PgResult>;
  query(text: string, values?: readonly unknown[]): Promise<PgResult>;
  /** Since pg 8.21. */
  getTransactionStatus?(): string | null;
  on?(event: "error", listener: (error: Error) => void): unknown;
  removeListener?(event: "error", listener: (error: Error) => void): unknown;
}

/** What is needed of a client that a pool lends. */
export interface PgPoolClient extends PgClient {
  release(destroy?: boolean | Error): void;
}

/** What is needed of a `pg` pool. */
export interface PgPool {
  connect(): Promise<PgPoolClient>;
  end?(): Promise<void>;
}

/** Settings of a `pg` client or pool; whatever `pg` knows may be given. */
export interface PgSettings {
  readonly connectionString?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly password?: string | (() => string | Promise<string>) | undefined;
  readonly database?: string | undefined;
  readonly ssl?: boolean | ConnectionOptions | undefined;
  readonly application_name?: string | undefined;
  /** Most connections of a pool. @defaultValue 10 */
  readonly max?: number | undefined;
  readonly [setting: string]: unknown;
}

export interface PgQueryConfig {
  readonly text: string;
  readonly values?: unknown[];
  readonly name?: string;
  readonly rowMode?: "array";
  readonly types?: { getTypeParser(oid: number, format?: unknown): (value: never) => unknown };
}

/**
 * Every column as text, as it came: an application's own type parsers have no say here, and these
 * none elsewhere. A client set to binary results delivers the bytes of the text.
 */
const rawTypes = {
  getTypeParser: () => (value: string | Buffer) =>
    typeof value === "string" ? value : value.toString("utf8"),
};

/** A statement as `pg` takes it. `name` makes it a prepared statement of the session. */
export function pgQueryConfig({ text, values }: Statement, name?: string): PgQueryConfig {
  return {
    text,
    values: [...values],
    rowMode: "array",
    types: rawTypes,
    ...(name === undefined ? {} : { name }),
  };
}

export async function runOnPgClient(
  client: PgClient,
  statement: Statement,
  name?: string,
): Promise<readonly Row[]> {
  const { rows } = await client.query(pgQueryConfig(statement, name));
  return rows as readonly Row[];
}

/** A session on a client inside a transaction. */
export function pgSession(client: PgClient) {
  return {
    query: (statement: Statement) => runOnPgClient(client, statement),
    async script(sql: string) {
      await client.query(sql);
    },
  };
}
