import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPostgresStore, type PostgresStore } from "./create-postgres-store.js";
import { useTestDatabase } from "./testing/test-database.js";

const database = useTestDatabase();
const durationMs = 6_000;
let pool: pg.Pool;
let store: PostgresStore;
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: database.url, max: 12 });
  store = createPostgresStore({ pool });
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  await pool.end();
});

const error = { code: "x", message: "made to fail", isRetryable: false };

it("claims, completes, renews, purges, redrives, saves and enqueues at once, without a deadlock", async () => {
  const end = performance.now() + durationMs;
  let enqueued = 0;
  let delivered = 0;
  const whileTime = async (step: () => Promise<unknown>) => {
    while (performance.now() < end) await step();
  };
  const produce = () =>
    whileTime(async () => {
      await store.enqueue(
        Array.from({ length: 50 }, () => ({ type: "soak" })),
        { autonomous: true },
      );
      enqueued += 50;
      const waiting = (await store.stats()).ready;
      if (waiting > 3_000) await new Promise((resolve) => setTimeout(resolve, 50));
    });
  const work = (workerId: string) =>
    whileTime(async () => {
      const { claims } = await store.claim({ workerId, maxCount: 40, leaseDurationMs: 1_000 });
      // Renewals and completions of overlapping batches, in orders of their own.
      const shuffled = [...claims].sort(() => Math.random() - 0.5);
      const renewal = store.extendClaims(shuffled.slice(0, 20), { leaseDurationMs: 1_000 });
      const transitions = await store.completeClaims(
        [...shuffled]
          .reverse()
          .map((claim, index) =>
            index % 5 === 0
              ? { claim, kind: "dead-lettered", error }
              : index % 5 === 1
                ? { claim, kind: "release" }
                : { claim, kind: "delivered" },
          ),
      );
      await renewal;
      delivered += transitions.filter(
        ({ outcome, entry }) => outcome === "applied" && entry?.status === "delivered",
      ).length;
    });
  const select = () =>
    whileTime(async () => {
      for (const entry of await store.findPending({ maxCount: 5 })) {
        await store.markFailed(entry.entryId, error);
      }
    });
  let purged = 0;
  await Promise.all([
    produce(),
    work("a"),
    work("b"),
    work("c"),
    select(),
    whileTime(async () => {
      const { count } = await store.purge({
        status: "delivered",
        olderThanMs: 100,
        batchSize: 200,
      });
      purged += count;
    }),
    whileTime(() => store.redrive({ all: true }, { by: "soak" })),
    whileTime(() => store.redrive({ types: ["*"] })),
  ]);
  // Repetition would hide a deadlock; the server counts them all.
  const { rows } = await database.pool.query(
    "select deadlocks::integer from pg_stat_database where datname = current_database()",
  );
  expect(rows).toEqual([{ deadlocks: 0 }]);
  expect(delivered).toBeGreaterThan(100);
  const { byStatus } = await store.stats({ exact: true });
  const left = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
  expect(left + purged, "nothing is lost, nothing is there twice").toBe(enqueued);
}, 60_000);
