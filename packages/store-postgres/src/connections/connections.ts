import type { Row, Statement } from "../sql/statement.js";

/** How statements reach the database: a pool, a client, PGlite. Opens nothing before it must. */
export interface Connections {
  /** Runs one statement in a transaction of its own. */
  query(statement: Statement, options?: QueryOptions): Promise<readonly Row[]>;
  /** Runs several in one READ COMMITTED transaction. */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Closes what was opened here; never what was handed in. */
  close(): Promise<void>;
}

export interface QueryOptions {
  /**
   * Whether it may take long (maintenance); else it is given up after `queryTimeoutMs`.
   * @defaultValue false
   */
  readonly isLong?: boolean | undefined;
}

/** One connection inside a transaction. */
export interface Session {
  query(statement: Statement): Promise<readonly Row[]>;
  /** Several statements at once, without values. */
  script(sql: string): Promise<void>;
}
