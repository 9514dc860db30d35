import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { startWorker } from "../testing-doubles/worker-of.js";

const contended = async () => ({ claims: [], more: "contended", suspectsDue: false }) as never;

test("a full batch is followed by the next at once", async () => {
  const world = new DrainWorld();
  await world.enqueue(1_000);
  const worker = startWorker(world, { batchSize: 100 });
  await world.timing.advance(1);
  expect(world.count("delivered")).toBe(1_000);
  await world.timing.during(worker.stop());
});

test("an idle worker looks once per poll interval", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world, { pollIntervalMs: 2_000 });
  await world.timing.advance(100_000);
  // The first at once.
  expect(world.scripted.calls.claim).toBe(51);
  expect(world.scripted.calls.completeClaims + world.scripted.calls.extendClaims).toBe(0);
  await world.timing.during(worker.stop());
});

test("polls at least every 100 ms for 5 s after activity", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const worker = startWorker(world, { wakeUp: false, pollIntervalMs: 10_000 });
  await world.timing.advance(10);
  const before = world.scripted.calls.claim;
  await world.timing.advance(4_900);
  const active = world.scripted.calls.claim - before;
  expect(active).toBeGreaterThanOrEqual(48);
  expect(active).toBeLessThanOrEqual(55);
  await world.timing.advance(200);
  const quiet = world.scripted.calls.claim;
  await world.timing.advance(9_000);
  expect(world.scripted.calls.claim - quiet).toBeLessThanOrEqual(1);
  await world.timing.during(worker.stop());
});

test("a poll interval below 100 ms is kept while active", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const worker = startWorker(world, { wakeUp: false, pollIntervalMs: 20 });
  await world.timing.advance(1_000);
  expect(world.scripted.calls.claim).toBeGreaterThanOrEqual(50);
  await world.timing.during(worker.stop());
});

test("a wake-up is answered at once", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world, { pollIntervalMs: 60_000 });
  await world.timing.advance(10_000);
  await world.enqueue(1);
  await world.timing.settle();
  expect(world.count("delivered")).toBe(1);
  await world.timing.during(worker.stop());
});

test("a wake-up during a claim is not lost", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world, { pollIntervalMs: 60_000 });
  await world.timing.advance(10_000);
  world.scripted.next("claim", async (call) => {
    const batch = await call();
    // Committed after the claim has looked, and before its reply is there.
    await world.enqueue(1);
    return batch;
  });
  // To the very next poll, and no further.
  await world.timing.advance(50_000);
  expect(world.count("delivered")).toBe(1);
  await world.timing.during(worker.stop());
});

test("contended claims are repeated soon, with growing distance, and not in step", async () => {
  const world = new DrainWorld();
  const at: number[] = [];
  world.scripted.always("claim", (call) => {
    at.push(world.timing.monotonic());
    return contended() ?? call();
  });
  const worker = startWorker(world, { wakeUp: false, pollIntervalMs: 60_000 });
  await world.timing.advance(2_000);
  const delays = at.slice(1).map((ms, index) => ms - (at[index] ?? 0));
  expect(delays[0]).toBeLessThanOrEqual(20);
  expect(Math.max(...delays)).toBeLessThanOrEqual(100);
  expect(new Set(delays).size).toBeGreaterThan(delays.length / 2);
  expect(at.length).toBeLessThan(60);
  await world.timing.during(worker.stop());
});

test("a store that promises more and gives nothing is not asked in a hot loop", async () => {
  const world = new DrainWorld();
  const promise = { claims: [], more: "likely", suspectsDue: false };
  world.scripted.always("claim", async () => promise as never);
  const worker = startWorker(world, { wakeUp: false });
  await world.timing.advance(1_000);
  expect(world.scripted.calls.claim).toBeLessThan(40);
  await world.timing.during(worker.stop());
});

test("claims nothing while everything is busy, and again when a slot is near", async () => {
  const world = new DrainWorld();
  await world.enqueue(60);
  world.emitter.behave = () => world.timing.sleep(1_000);
  const worker = startWorker(world, { batchSize: 20, emitConcurrency: 4 });
  await world.timing.advance(900);
  expect(world.scripted.calls.claim).toBe(1);
  await world.timing.advance(20_000);
  expect(world.count("delivered")).toBe(60);
  expect(world.emitter.mostRunning).toBe(4);
  await world.timing.during(worker.stop());
});
