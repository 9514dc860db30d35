import { expect, test } from "vitest";
import { routeByType } from "../emitters/route-by-type.js";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { waits } from "../testing-doubles/recording-emitter.js";
import { OutboxWorkerLoop } from "./outbox-worker-loop.js";
import type { WorkerOptions } from "./worker-options.js";

function startWorker(world: DrainWorld, options: Partial<WorkerOptions> = {}) {
  const { store, emitter, timing } = world;
  const worker = new OutboxWorkerLoop({ store, emitter, ...options }, timing);
  worker.start();
  return worker;
}

const down = () => {
  throw new Error("503");
};

test("a provider that is down for two hours costs no entry its retries, and sees probes only", async () => {
  const world = new DrainWorld();
  await world.enqueue(10_000);
  world.emitter.behave = down;
  // Large batches: the memory store looks at every entry at each claim.
  const worker = startWorker(world, { batchSize: 1_000 });
  await world.timing.advance(7_200_000);
  const probes = world.emitter.calls.length;
  // Ten that opened the circuit, those in flight with them, and a probe a minute.
  expect(probes).toBeLessThanOrEqual(20 + 10 + 160);
  expect(world.count("dead-lettered")).toBe(0);
  expect(worker.health()).toMatchObject({ status: "degraded", openCircuits: ["default"] });
  world.emitter.behave = () => undefined;
  await world.timing.advance(120_000);
  expect(world.count("delivered")).toBe(10_000);
  expect(worker.health()).toMatchObject({ status: "healthy", openCircuits: [] });
  await world.timing.during(worker.stop());
}, 120_000);

test("while a circuit is open nothing is claimed but for probes, and failures count nothing", async () => {
  const world = new DrainWorld();
  await world.enqueue(200);
  world.emitter.behave = down;
  const worker = startWorker(world, { emitConcurrency: 1 });
  await world.timing.advance(2_000);
  const { claim } = world.scripted.calls;
  await world.timing.advance(600_000);
  expect(world.scripted.calls.claim - claim).toBeLessThanOrEqual(25);
  const counted = [...world.outbox.rows.values()].reduce(
    (sum, { entry }) => sum + entry.retryCount,
    0,
  );
  expect(counted).toBe(10);
  await world.timing.during(worker.stop());
});

test("one route's outage leaves the others alone", async () => {
  const world = new DrainWorld();
  await world.enqueue(50, "mail.sent");
  await world.enqueue(50, "order.placed");
  const worker = startWorker(world, {
    emitter: routeByType({ "mail.*": down, "order.placed": async () => {} }),
  });
  await world.timing.advance(5_000);
  expect(world.count("delivered")).toBe(50);
  expect(worker.health().openCircuits).toEqual(["mail.*"]);
  await world.enqueue(10, "order.placed");
  await world.timing.advance(5_000);
  expect(world.count("delivered")).toBe(60);
  await world.timing.during(worker.stop());
});

test("a refusal of one entry is an answer: it does not open the circuit", async () => {
  const world = new DrainWorld();
  await world.enqueue(100);
  const error = { code: "http.422", message: "no", isRetryable: false };
  world.emitter.behave = () => ({ status: "failed", error });
  const worker = startWorker(world);
  await world.timing.advance(5_000);
  expect(world.count("failed")).toBe(100);
  expect(worker.health().openCircuits).toEqual([]);
  await world.timing.during(worker.stop());
});

test("circuit: false counts every failure", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  world.emitter.behave = down;
  const worker = startWorker(world, { circuit: false, maxRetryAttempts: 3 });
  await world.timing.advance(600_000);
  expect(world.count("dead-lettered")).toBe(5);
  await world.timing.during(worker.stop());
});

test("a stop while every circuit is open is at once", async () => {
  const world = new DrainWorld();
  await world.enqueue(100);
  world.emitter.behave = down;
  const worker = startWorker(world);
  await world.timing.advance(100_000);
  await world.timing.during(worker.stop(), 100);
  expect(world.leased).toBe(0);
  await world.timing.advance(2_000);
  expect(world.timing.sleeping).toBe(0);
});

test("a probe whose lease is lost, and that never ends, does not end probing for ever", async () => {
  const world = new DrainWorld();
  await world.enqueue(50);
  world.emitter.behave = down;
  const worker = startWorker(world, { leaseDurationMs: 10_000, emitTimeoutMs: 5_000 });
  await world.timing.advance(900);
  expect(worker.health().openCircuits).toEqual(["default"]);
  world.emitter.behave = () => waits;
  await world.timing.advance(1_000);
  // The probe hangs. The machine sleeps for longer than its lease.
  world.timing.suspend(20_000);
  await world.timing.advance(6_000);
  world.emitter.behave = () => undefined;
  await world.timing.advance(120_000);
  expect(world.count("delivered")).toBe(50);
  await world.timing.during(worker.stop());
});
