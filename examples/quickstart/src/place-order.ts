import type { PostgresStore } from "@outbox/store-postgres";
import type { Pool, PoolClient } from "pg";

export interface Order {
  readonly id: string;
  readonly customer: string;
  readonly totalCents: number;
}

/** The application's events, by type: they give `enqueue` and the emitters their payload types. */
export type ShopEvents = {
  "order.placed": Order;
};

export class PaymentDeclinedError extends Error {
  override readonly name = "PaymentDeclinedError";
}

/**
 * The business transaction. The order and the message about it are written by the same transaction,
 * so both are there or neither is: no order without its message, no message about an order that was
 * rolled back.
 */
export async function placeOrder(
  pool: Pool,
  store: PostgresStore<ShopEvents>,
  order: Order,
  pay: (order: Order) => Promise<void>,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query("insert into orders (id, customer, total_cents) values ($1, $2, $3)", [
      order.id,
      order.customer,
      order.totalCents,
    ]);
    await store.enqueue({ type: "order.placed", subject: order.id, payload: order }, { tx });
    await pay(order);
  });
}

async function inTransaction(pool: Pool, work: (tx: PoolClient) => Promise<void>): Promise<void> {
  const tx = await pool.connect();
  try {
    await tx.query("begin");
    await work(tx);
    await tx.query("commit");
  } catch (error) {
    await tx.query("rollback");
    throw error;
  } finally {
    tx.release();
  }
}
