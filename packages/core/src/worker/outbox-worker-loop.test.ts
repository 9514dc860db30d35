import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { held } from "../testing-doubles/store-fault.js";
import { startWorker, workerOf } from "../testing-doubles/worker-of.js";

/** Claims that an idle worker makes in ten seconds, at one per second and loop. */
async function claimsInTenSeconds(world: DrainWorld): Promise<number> {
  const before = world.scripted.calls.claim;
  await world.timing.advance(10_000);
  return world.scripted.calls.claim - before;
}

test("nothing happens before the start", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const worker = workerOf(world);
  await world.timing.advance(5_000);
  expect(world.scripted.calls.claim).toBe(0);
  expect(worker.health()).toMatchObject({ status: "stopped", lastClaimAt: null, lagMs: null });
});

test("starting twice is one loop", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world);
  worker.start();
  await world.timing.advance(100);
  worker.start();
  expect(await claimsInTenSeconds(world)).toBe(10);
  await world.timing.during(worker.stop());
  expect(await claimsInTenSeconds(world)).toBe(0);
});

test("stopping twice, or before a start, is harmless", async () => {
  const world = new DrainWorld();
  const worker = workerOf(world);
  expect(await worker.stop()).toEqual({ released: 0, left: [], unfinalized: 0 });
  worker.start();
  await world.enqueue(3);
  world.emitter.behave = () => world.timing.sleep(1_000);
  await world.timing.advance(100);
  const [first, second] = [worker.stop(), worker.stop()];
  expect(await world.timing.during(first)).toEqual(await second);
  expect(await worker.stop()).toEqual({ released: 0, left: [], unfinalized: 0 });
});

test("a start after a stop is one loop again", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world);
  await world.timing.advance(100);
  await world.timing.during(worker.stop());
  worker.start();
  await world.timing.advance(100);
  expect(await claimsInTenSeconds(world)).toBe(10);
  await world.enqueue(1);
  await world.timing.advance(100);
  expect(world.count("delivered")).toBe(1);
  await world.timing.during(worker.stop());
  expect(worker.health().lastDeliveryAt).not.toBeNull();
});

test("a start during a stop begins when the stop has ended", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => world.timing.sleep(3_000);
  const worker = startWorker(world);
  await world.timing.advance(100);
  const stopped = worker.stop();
  worker.start();
  worker.start();
  const before = world.scripted.calls.claim;
  await world.timing.advance(1_000);
  expect(world.scripted.calls.claim).toBe(before);
  await world.timing.during(stopped);
  await world.timing.advance(10_000);
  expect(await claimsInTenSeconds(world)).toBe(10);
  await world.timing.during(worker.stop());
});

test("start, stop, start, stop during a stop stays stopped", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => world.timing.sleep(3_000);
  const worker = startWorker(world);
  await world.timing.advance(100);
  const stopped = worker.stop();
  worker.start();
  await world.timing.during(worker.stop());
  await stopped;
  expect(await claimsInTenSeconds(world)).toBe(0);
  expect(worker.health().status).toBe("stopped");
});

test("a claim that hangs over from an earlier run does not disturb the next", async () => {
  const world = new DrainWorld();
  await world.enqueue(3);
  const gate = held();
  world.scripted.next("claim", gate.fault);
  const worker = startWorker(world);
  await world.timing.settle();
  await world.timing.during(worker.stop({ timeoutMs: 0 }));
  worker.start();
  await world.timing.advance(10_000);
  expect(world.count("delivered")).toBe(3);
  await world.enqueue(1);
  gate.release();
  await world.timing.advance(1_000);
  expect(Object.values(world.emitter.timesEmitted)).toEqual([1, 1, 1, 1]);
  expect(world.leased).toBe(0);
  await world.timing.advance(10_000);
  expect(await claimsInTenSeconds(world)).toBe(10);
  await world.timing.during(worker.stop());
});

test("a paused worker finishes what it has, claims nothing, and goes on when resumed", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  world.emitter.behave = () => world.timing.sleep(500);
  const worker = startWorker(world, { emitConcurrency: 2 });
  await world.timing.advance(100);
  worker.pause();
  worker.pause();
  expect(worker.health().status).toBe("stopped");
  await world.timing.advance(5_000);
  expect(world.count("delivered")).toBe(5);
  await world.enqueue(5);
  expect(await claimsInTenSeconds(world)).toBe(0);
  await world.timing.advance(600_000);
  worker.resume();
  expect(worker.health().status).toBe("healthy");
  await world.timing.advance(2_000);
  expect(world.count("delivered")).toBe(10);
  worker.pause();
  await world.timing.during(worker.stop());
});

test("health tells what is going on", async () => {
  const world = new DrainWorld();
  await world.enqueue(30);
  await world.timing.advance(4_000);
  world.emitter.behave = () => world.timing.sleep(1_000);
  const worker = startWorker(world, { emitConcurrency: 3, workerId: "me" });
  await world.timing.advance(1_100);
  expect(worker.workerId).toBe("me");
  expect(worker.health()).toEqual({
    status: "healthy",
    problems: [],
    lastClaimAt: new Date(world.timing.wall() - 1_100),
    lastDeliveryAt: new Date(world.timing.wall() - 90),
    consecutiveFailures: 0,
    lastError: null,
    lagMs: 4_000,
    emitting: 3,
    queued: 24,
    unfinalized: 0,
    expectedDuplicates: 0,
    openCircuits: [],
    crashLoop: false,
    wakeUp: "connected",
  });
  await world.timing.during(worker.stop());
});

test("lag is 0 when nothing is due", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world);
  await world.timing.advance(100);
  expect(worker.health().lagMs).toBe(0);
  await world.timing.during(worker.stop());
});
