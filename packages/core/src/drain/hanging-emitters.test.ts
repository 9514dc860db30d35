import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { obeysSignal, waits } from "../testing-doubles/recording-emitter.js";
import { startWorker } from "../testing-doubles/worker-of.js";
import type { WorkerOptions } from "../worker/worker-options.js";

const timeouts = { emitTimeoutMs: 1_000, emitConcurrency: 2, leaseDurationMs: 30_000 };

function startHere(world: DrainWorld, options: Partial<WorkerOptions> = {}) {
  return startWorker(world, { ...timeouts, ...options });
}

test("an emission that takes too long is a failure, and frees its slot", async () => {
  const world = new DrainWorld();
  await world.enqueue(3);
  world.emitter.behave = ({ entryId }) => (entryId === "e3" ? undefined : waits);
  const worker = startHere(world);
  await world.timing.advance(900);
  expect(world.count("delivered")).toBe(0);
  await world.timing.advance(400);
  expect(world.entry("e3").status).toBe("delivered");
  expect(world.entry("e1")).toMatchObject({
    status: "retryable-failure",
    retryCount: 1,
    failures: [{ code: "emission.timeout" }],
  });
  expect(world.emitter.calls[0]?.context.signal.reason).toMatchObject({
    code: "outbox.emission_timeout",
  });
  await world.timing.during(worker.stop());
});

test("an emitter that obeys its timeout's signal is counted once", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = obeysSignal;
  const worker = startHere(world);
  await world.timing.advance(1_500);
  expect(world.entry("e1")).toMatchObject({ status: "retryable-failure", retryCount: 1 });
  await world.timing.during(worker.stop());
});

test("calls that hang count up to twice the concurrency", async () => {
  const world = new DrainWorld();
  await world.enqueue(50);
  world.emitter.behave = () => waits;
  const worker = startHere(world);
  await world.timing.advance(1_900);
  expect(world.emitter.calls).toHaveLength(4);
  expect(world.emitter.mostRunning).toBe(4);
  await world.timing.during(worker.stop());
});

test("calls that never end starve nothing for ever, and cause no hot claiming", async () => {
  const world = new DrainWorld();
  await world.enqueue(60);
  world.emitter.behave = ({ entryId }) => (Number(entryId.slice(1)) <= 6 ? waits : undefined);
  const worker = startHere(world, { retryDelayMs: 600_000 });
  await world.timing.advance(20_000);
  expect(world.count("delivered")).toBe(54);
  expect(world.count("retryable-failure")).toBe(6);
  expect(world.scripted.calls.claim).toBeLessThan(120);
  await world.timing.during(worker.stop());
});

test("an emitter that always hangs is called at a bounded rate, and nothing is given back hot", async () => {
  const world = new DrainWorld();
  await world.enqueue(200);
  world.emitter.behave = () => waits;
  const worker = startHere(world, {
    leaseDurationMs: 6_000,
    retryDelayMs: 600_000,
    circuit: false,
  });
  await world.timing.advance(60_000);
  // Two per second at most, and about that.
  expect(world.emitter.calls.length).toBeLessThanOrEqual(2 * 61);
  expect(world.emitter.calls.length).toBeGreaterThan(60);
  expect(world.scripted.calls.claim).toBeLessThan(150);
  expect(worker.health().status).not.toBe("unhealthy");
  await world.timing.during(worker.stop());
});

test("a late delivery is offered: the token decides", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => waits;
  const worker = startHere(world, { retryDelayMs: 600_000 });
  await world.timing.advance(1_500);
  expect(world.entry("e1").status).toBe("retryable-failure");
  world.emitter.calls[0]?.end();
  await world.timing.advance(100);
  // The failure has been written: the delivery comes too late, and is not kept secret.
  expect(world.entry("e1").status).toBe("retryable-failure");
  expect(worker.health().expectedDuplicates).toBe(1);
  await world.timing.during(worker.stop());
});

test("late failures count nothing more", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => waits;
  const worker = startHere(world, { retryDelayMs: 600_000 });
  await world.timing.advance(1_500);
  world.emitter.calls[0]?.fail(new Error("late"));
  await world.timing.advance(100);
  expect(world.entry("e1").retryCount).toBe(1);
  expect(worker.health().expectedDuplicates).toBe(0);
  await world.timing.during(worker.stop());
});
