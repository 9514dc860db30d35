import { createDatabase } from "@outbox/temporary-postgres";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPostgresStore } from "./create-postgres-store.js";
import { withTransaction } from "./with-transaction.js";

let pool: Pool;

beforeAll(async () => {
  const [server] = testPostgresServers();
  pool = new Pool({ connectionString: await createDatabase(server.url) });
  pool.on("error", () => {});
  await createPostgresStore({ pool }).migrate();
  await pool.query("create table orders (id text primary key)");
});

afterAll(async () => {
  await pool.end();
});

async function placeOrder(id: string, work: () => void = () => {}) {
  const store = createPostgresStore({ pool });
  return withTransaction(pool, async (tx) => {
    await tx.query("insert into orders values ($1)", [id]);
    await store.enqueue({ type: "order.placed", envelopeId: id }, { tx });
    work();
    return id;
  });
}

async function stored(id: string) {
  const { rows } = await pool.query(
    "select (select count(*) from orders where id = $1)::int as orders, (select count(*) from outbox_entry where envelope_id = $1)::int as entries",
    [id],
  );
  return rows[0];
}

it("commits the row and the entry together", async () => {
  expect(await placeOrder("kept")).toBe("kept");
  expect(await stored("kept")).toEqual({ orders: 1, entries: 1 });
});

it("rolls both back when the work throws, and passes the error on", async () => {
  const failing = placeOrder("dropped", () => {
    throw new Error("no stock");
  });
  await expect(failing).rejects.toThrow("no stock");
  expect(await stored("dropped")).toEqual({ orders: 0, entries: 0 });
});

it("closes a client whose connection died, and process and pool go on", async () => {
  const killed = withTransaction(pool, async (tx) => {
    await tx.query("select pg_terminate_backend(pg_backend_pid())");
  });
  await expect(killed).rejects.toThrow();
  expect(await placeOrder("after")).toBe("after");
  expect(pool.idleCount + pool.waitingCount).toBeLessThanOrEqual(pool.totalCount);
});
