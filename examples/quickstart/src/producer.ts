import "./end-with-parent.js";
import { setTimeout as delay } from "node:timers/promises";
import { createPostgresStore } from "@outbox/store-postgres";
import pg from "pg";
import { chance } from "./chance.js";
import { environment } from "./environment.js";
import { tellMain } from "./messages.js";
import { type Order, PaymentDeclinedError, placeOrder, type ShopEvents } from "./place-order.js";

/** A producer process: customers place orders, and one payment in ten is declined. */
const name = environment("PRODUCER_NAME");
const orderCount = Number(environment("ORDER_COUNT"));
const intervalMs = 1_000 / Number(environment("ORDERS_PER_SECOND"));

const pool = new pg.Pool({ connectionString: environment("DATABASE_URL"), max: 2 });
const store = createPostgresStore<ShopEvents>({ pool, source: "/shop" });

const startedAt = performance.now();
for (let number = 1; number <= orderCount; number++) {
  // By the clock and not by a pause between two orders, which would depend on the machine's mood.
  await delay(startedAt + number * intervalMs - performance.now());
  const id = `${name}-${String(number).padStart(5, "0")}`;
  const order = { id, customer: `customer-${number % 97}`, totalCents: 500 + (number % 9_500) };
  tellMain({ kind: "order", orderId: id, committed: await tryToPlace(order) });
}
await store.close();
await pool.end();
process.disconnect?.();

async function tryToPlace(order: Order): Promise<boolean> {
  try {
    await placeOrder(pool, store, order, pay);
    return true;
  } catch (error) {
    if (error instanceof PaymentDeclinedError) return false;
    throw error;
  }
}

async function pay(order: Order): Promise<void> {
  if (chance(`payment ${order.id}`) < 0.1) throw new PaymentDeclinedError(order.id);
}
