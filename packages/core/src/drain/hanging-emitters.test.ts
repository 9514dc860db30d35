import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { obeysSignal, waits } from "../testing-doubles/recording-emitter.js";
import { startWorker } from "../testing-doubles/worker-of.js";
import type { WorkerOptions } from "../worker/worker-options.js";
import type { OutboxEvent } from "./outbox-event.js";

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

test("calls that go on in spite of their timeout count up to twice the concurrency", async () => {
  const world = new DrainWorld();
  await world.enqueue(30);
  world.emitter.behave = () => world.timing.sleep(3_500);
  const worker = startHere(world, { retryDelayMs: 600_000, circuit: false });
  await world.timing.advance(40_000);
  expect(world.emitter.mostRunning).toBe(4);
  expect(world.emitter.calls).toHaveLength(30);
  await world.timing.during(worker.stop());
});

test("calls that never end are forgotten in the end, though nothing else happens", async () => {
  const world = new DrainWorld();
  await world.enqueue(4);
  world.emitter.behave = () => waits;
  const worker = startHere(world, { retryDelayMs: 600_000 });
  await world.timing.advance(3_000);
  expect(world.emitter.calls).toHaveLength(4);
  world.emitter.behave = () => undefined;
  await world.enqueue(10);
  await world.timing.advance(1_000);
  expect(world.count("delivered")).toBe(0);
  await world.timing.advance(4_000);
  expect(world.count("delivered")).toBe(10);
  await world.timing.during(worker.stop());
});

test("while all slots hang nothing is claimed and given back again and again", async () => {
  const world = new DrainWorld();
  await world.enqueue(200);
  world.emitter.behave = () => waits;
  const options = { emitTimeoutMs: 10_000, leaseDurationMs: 6_000, retryDelayMs: 600_000 };
  const worker = startHere(world, { ...options, unhealthyAfterMs: 20_000, circuit: false });
  await world.timing.advance(25_000);
  expect(world.emitter.calls).toHaveLength(4);
  const before = world.scripted.calls.claim;
  await world.timing.advance(20_000);
  expect(world.scripted.calls.claim).toBe(before);
  expect(world.leased).toBe(0);
  expect(worker.health().status).toBe("unhealthy");
  await world.timing.advance(300_000);
  // Four per fifty seconds.
  expect(world.emitter.calls.length).toBeLessThanOrEqual(4 * 7);
  expect(world.emitter.calls.length).toBeGreaterThanOrEqual(4 * 5);
  await world.timing.during(worker.stop());
});

test("timeouts, too, let claims ask for less", async () => {
  const world = new DrainWorld();
  await world.enqueue(300);
  world.emitter.behave = obeysSignal;
  const claimed: number[] = [];
  const observer = (event: OutboxEvent) => {
    if (event.type === "claim") claimed.push(event.count);
  };
  const options = { emitTimeoutMs: 5_000, retryDelayMs: 600_000, observer };
  const worker = startHere(world, options);
  await world.timing.advance(120_000);
  // Two slots, a third of 30 s, five seconds each.
  expect(claimed[0]).toBe(100);
  expect(claimed.length).toBeGreaterThan(5);
  expect(Math.max(...claimed.slice(1))).toBeLessThanOrEqual(4);
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
