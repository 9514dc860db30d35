import { sqlState } from "../classify-error.js";
import type { Row, Statement } from "../sql/statement.js";
import type { Connections, QueryOptions, Session } from "./connections.js";
import { inPhase } from "./error-phase.js";
import { type PgPool, type PgPoolClient, pgSession, runOnPgClient } from "./pg-types.js";
import { QueryTimeoutError } from "./query-timeout-error.js";
import { StatementNames } from "./statement-names.js";

export interface PoolConnectionsOptions {
  readonly queryTimeoutMs: number;
  readonly preparedStatements: boolean;
  /** Runs once on each connection, before its first statement. */
  readonly prepare?: ((client: PgPoolClient) => Promise<void>) | undefined;
  /** Called by `close`; absent for a pool that was handed in. */
  readonly end?: (() => Promise<void>) | undefined;
}

/**
 * Statements over a pool; a connection is held for one statement (or transaction) only.
 *
 * @param pool - asked for at the first statement, because it may have to be loaded first
 */
export function poolConnections(
  pool: () => Promise<PgPool>,
  { queryTimeoutMs, preparedStatements, prepare, end }: PoolConnectionsOptions,
): Connections {
  const names = preparedStatements ? new StatementNames() : undefined;
  const prepared = new WeakSet<object>();

  async function withClient<Result>(
    timeoutMs: number | undefined,
    work: (client: PgPoolClient) => Promise<Result>,
  ): Promise<Result> {
    const client = await inPhase("connect", async () => (await pool()).connect());
    // A lent client that loses its connection says so by an event, which without a listener ends
    // the process; the statement under way is rejected as well, and that is what counts.
    const ignore = () => {};
    client.on?.("error", ignore);
    let isUsable = false;
    try {
      if (prepare !== undefined && !prepared.has(client)) {
        await inPhase("connect", () => prepare(client));
        prepared.add(client);
      }
      const result = await inPhase("query", () => withTimeout(timeoutMs, work(client)));
      isUsable = true;
      return result;
    } catch (error) {
      isUsable = isAnswer(error);
      throw error;
    } finally {
      client.release(!isUsable);
      client.removeListener?.("error", ignore);
    }
  }

  return {
    query(statement: Statement, options: QueryOptions = {}): Promise<readonly Row[]> {
      return withClient(options.isLong === true ? undefined : queryTimeoutMs, (client) =>
        runOnPgClient(client, statement, names?.nameOf(statement.text)),
      );
    },
    transaction: (work: (session: Session) => Promise<never>) =>
      withClient(undefined, async (client) => {
        await client.query("begin isolation level read committed");
        try {
          const result = await work(pgSession(client));
          await client.query("commit");
          return result;
        } catch (error) {
          await client.query("rollback").catch(() => {});
          throw error;
        }
      }),
    async close() {
      await end?.();
    },
  };
}

/**
 * The server answered with an error and the connection goes on. Not after a lost connection or a
 * timeout, when anything may still arrive, and not on a server that became a standby (25006): a
 * new connection may reach the primary.
 */
function isAnswer(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && state !== "25006" && !/^(57P|08)/.test(state);
}

async function withTimeout<Result>(
  timeoutMs: number | undefined,
  running: Promise<Result>,
): Promise<Result> {
  if (timeoutMs === undefined) return running;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new QueryTimeoutError(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([running, timeout]);
  } finally {
    clearTimeout(timer);
    // If the timeout won, the statement's own end comes later and is nobody's business.
    running.catch(() => {});
  }
}
