import { OutboxError } from "@outbox/core";
import type { Row, Statement } from "../sql/statement.js";
import type { Connections, Session } from "./connections.js";
import { inPhase } from "./error-phase.js";
import { type PgClient, pgSession, runOnPgClient } from "./pg-types.js";
import { StatementNames } from "./statement-names.js";

/**
 * Statements over one connected client, one after the other. The client is for this store alone
 * while a statement runs; a transaction of the application's would swallow claims.
 */
export function clientConnections(
  client: PgClient,
  { preparedStatements }: { readonly preparedStatements: boolean },
): Connections {
  const names = preparedStatements ? new StatementNames() : undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** `pg` queues statements by itself, but a transaction must not be interleaved. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = last.then(async () => {
      const status = client.getTransactionStatus?.();
      if (status === "T" || status === "E") {
        throw new OutboxError(
          "outbox.client_in_transaction",
          "the client given to createPostgresStore is inside a transaction, which would hold back claims until it ends; give the store a pool or a client of its own, and pass this one as { tx } to enqueue",
        );
      }
      return inPhase("query", work);
    });
    last = turn.catch(() => {});
    return turn;
  }

  return {
    query: (statement: Statement): Promise<readonly Row[]> =>
      inTurn(() => runOnPgClient(client, statement, names?.nameOf(statement.text))),
    transaction: (work: (session: Session) => Promise<never>) =>
      inTurn(async () => {
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
    async close() {},
  };
}
