import "./end-with-parent.js";
import "./report-faults.js";
import { createHttpEmitter, createWorker, routeByType } from "@outbox/core";
import { createPostgresStore } from "@outbox/store-postgres";
import { environment } from "./environment.js";
import type { ShopEvents } from "./place-order.js";

/** A worker process: claims what is due, sends it, records the result. Start as many as you like. */
const workerId = environment("WORKER_ID");
const store = createPostgresStore<ShopEvents>({ connectionString: environment("DATABASE_URL") });

const worker = createWorker({
  store,
  workerId,
  emitter: routeByType<ShopEvents>({
    "order.*": createHttpEmitter({
      url: environment("RECEIVER_URL"),
      headers: { "X-Worker-Id": workerId },
      timeoutMs: 1_500,
    }),
  }),
  // Shorter than the defaults, so that the demo need not wait a minute for a dead worker's lease.
  leaseDurationMs: Number(environment("LEASE_DURATION_MS")),
  batchSize: 20,
  emitConcurrency: 8,
  retryDelayMs: 500,
  maxRetryDelayMs: 2_000,
  logger: console,
});

worker.start();

process.once("SIGTERM", async () => {
  await worker.stop();
  await store.close();
  process.disconnect?.();
});
