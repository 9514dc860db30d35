/** What is needed of a `pg` pool here. */
export interface TransactionPool {
  connect(): Promise<TransactionClient>;
}

/** What is needed of a client that a pool lends. */
export interface TransactionClient {
  query(text: string): Promise<unknown>;
  release(destroy?: boolean | Error): void;
  on?(event: "error", listener: (error: Error) => void): unknown;
  removeListener?(event: "error", listener: (error: Error) => void): unknown;
}

/** The pool's own client type. The first form is for `pg`, whose `connect` also takes a callback. */
export type ClientOf<Pool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): void };
}
  ? Client
  : Pool extends { connect(): Promise<infer Client> }
    ? Client
    : never;

/**
 * Runs `work` in a transaction on one client of a `pg` pool: committed when it returns, rolled back
 * when it throws. The client goes back to the pool, or is closed where its state is unknown.
 *
 * For applications without a way of their own; any open transaction will do for `enqueue`.
 */
export async function withTransaction<Pool extends TransactionPool, Result>(
  pool: Pool,
  work: (tx: ClientOf<Pool>) => Promise<Result>,
): Promise<Result> {
  const client = (await pool.connect()) as ClientOf<Pool> & TransactionClient;
  // A lent client that loses its connection says so by an event, which without a listener ends the
  // process; the statement under way, or the next one, is rejected as well.
  const ignore = () => {};
  client.on?.("error", ignore);
  let result: Result;
  try {
    await client.query("begin");
    result = await work(client);
    await client.query("commit");
  } catch (error) {
    const isRolledBack = await client.query("rollback").then(
      () => true,
      () => false,
    );
    client.release(!isRolledBack);
    client.removeListener?.("error", ignore);
    throw error;
  }
  client.release();
  client.removeListener?.("error", ignore);
  return result;
}
