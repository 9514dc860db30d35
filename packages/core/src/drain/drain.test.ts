import { expect, test } from "vitest";
import type { ClaimBatch } from "../contract/claim-request.js";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { waits } from "../testing-doubles/recording-emitter.js";
import { failing, silent } from "../testing-doubles/store-fault.js";
import { type DrainOnceOptions, drainWithTiming } from "./drain.js";

function start(world: DrainWorld, options: Partial<DrainOnceOptions> = {}) {
  const { store, emitter, timing } = world;
  return drainWithTiming({ store, emitter, ...options }, timing);
}

test("claims, emits in due order, and marks as delivered", async () => {
  const world = new DrainWorld();
  await world.enqueue(250);
  const report = await world.timing.during(start(world));
  expect(report).toEqual({
    claimed: 250,
    delivered: 250,
    released: 0,
    stale: 0,
    expectedDuplicates: 0,
    endedBy: "empty",
  });
  expect(world.emitter.emittedIds).toEqual(Array.from({ length: 250 }, (_, i) => `e${i + 1}`));
  expect(world.entry("e1")).toMatchObject({ status: "delivered", claimToken: null, retryCount: 0 });
  expect(world.timing.sleeping).toBe(0);
});

test("costs two store calls per batch, and one to see that nothing is left", async () => {
  const world = new DrainWorld();
  await world.enqueue(1_000);
  await world.timing.during(start(world));
  expect(world.scripted.calls.claim).toBeLessThanOrEqual(11);
  expect(world.scripted.calls.completeClaims).toBeLessThanOrEqual(10);
  expect(world.scripted.calls.extendClaims).toBe(0);
});

test("emits at most emitConcurrency at a time", async () => {
  const world = new DrainWorld();
  await world.enqueue(40);
  world.emitter.behave = () => world.timing.sleep(100);
  const report = await world.timing.during(start(world, { emitConcurrency: 7 }));
  expect(report.delivered).toBe(40);
  expect(world.emitter.mostRunning).toBe(7);
});

test("writes a lone result at once and results that trickle in together, after 10 ms", async () => {
  const world = new DrainWorld();
  await world.enqueue(3);
  world.emitter.behave = () => waits;
  const done = start(world);
  await world.timing.settle();
  world.emitter.calls[0]?.end();
  await world.timing.advance(4);
  world.emitter.calls[1]?.end();
  await world.timing.advance(5);
  expect(world.scripted.calls.completeClaims).toBe(0);
  await world.timing.advance(1);
  expect(world.scripted.calls.completeClaims).toBe(1);
  expect(world.count("delivered")).toBe(2);
  world.emitter.calls[2]?.end();
  await world.timing.settle();
  expect(world.scripted.calls.completeClaims).toBe(2);
  await world.timing.during(done);
});

test("writes at once when there are max(100, batchSize) results", async () => {
  for (const [batchSize, flushAt] of [
    [50, 100],
    [150, 150],
  ] as const) {
    const world = new DrainWorld();
    await world.enqueue(400);
    world.emitter.behave = () => waits;
    const done = start(world, { batchSize, emitConcurrency: 300 });
    await world.timing.settle();
    const calls = [...world.emitter.calls];
    for (const { end } of calls.slice(0, flushAt - 1)) end();
    await world.timing.settle();
    expect(world.scripted.calls.completeClaims).toBe(0);
    calls[flushAt - 1]?.end();
    await world.timing.settle();
    expect(world.count("delivered")).toBe(flushAt);
    world.emitter.behave = () => undefined;
    for (const { end } of world.emitter.calls) end();
    await world.timing.during(done);
  }
});

test("tells the emitter attempt, claim and idempotency key", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  await world.timing.during(start(world, { workerId: "me" }));
  const { context } = world.emitter.calls[0] ?? {};
  expect(context).toMatchObject({ attempt: 1, idempotencyKey: "e1", claim: { workerId: "me" } });
  expect(context?.entry.claimAttemptCount).toBe(1);
  expect(context?.signal.aborted).toBe(false);
});

test("claims only the emitter's types, where it names them", async () => {
  const world = new DrainWorld();
  await world.enqueue(1, "order.placed");
  await world.enqueue(1, "mail.wanted");
  const emitter = { types: ["order.*"], emit: () => {} };
  const report = await world.timing.during(start(world, { emitter }));
  expect(report.delivered).toBe(1);
  expect(world.entry("e2")).toMatchObject({ status: "pending", claimAttemptCount: 0 });
});

test("stops claiming at maxCount", async () => {
  const world = new DrainWorld();
  await world.enqueue(30);
  const report = await world.timing.during(start(world, { maxCount: 12, batchSize: 5 }));
  expect(report).toMatchObject({ claimed: 12, delivered: 12, endedBy: "max-count" });
  expect(world.count("pending")).toBe(18);
});

test("claims nothing more after maxMs, and finishes what is in hand", async () => {
  const world = new DrainWorld();
  await world.enqueue(100);
  world.emitter.behave = () => world.timing.sleep(1_000);
  const options = { maxMs: 2_500, batchSize: 10, emitConcurrency: 10 };
  const report = await world.timing.during(start(world, options));
  expect(report).toMatchObject({ endedBy: "max-ms", delivered: report.claimed });
  expect(report.claimed).toBeGreaterThanOrEqual(30);
  expect(report.claimed).toBeLessThanOrEqual(50);
  expect(world.leased).toBe(0);
});

test("an aborted drain finishes what runs and gives back what was not started", async () => {
  const world = new DrainWorld();
  await world.enqueue(20);
  world.emitter.behave = () => world.timing.sleep(500);
  const controller = new AbortController();
  const done = start(world, { emitConcurrency: 2, signal: controller.signal });
  await world.timing.advance(100);
  controller.abort();
  const report = await world.timing.during(done);
  expect(report).toMatchObject({ claimed: 20, delivered: 2, released: 18, endedBy: "aborted" });
  expect(world.count("pending")).toBe(18);
  expect(world.leased).toBe(0);
  expect(world.timing.sleeping).toBe(0);
});

test("an abort after the last claim gives back what was not started, too", async () => {
  const world = new DrainWorld();
  await world.enqueue(20);
  world.emitter.behave = () => world.timing.sleep(500);
  const controller = new AbortController();
  const options = { emitConcurrency: 2, maxCount: 20, signal: controller.signal };
  const done = start(world, options);
  await world.timing.advance(100);
  controller.abort();
  expect(await world.timing.during(done)).toMatchObject({ delivered: 2, released: 18 });
});

test("a signal that is aborted already claims nothing", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const report = await world.timing.during(start(world, { signal: AbortSignal.abort() }));
  expect(report).toMatchObject({ claimed: 0, endedBy: "aborted" });
  expect(world.scripted.calls.claim).toBe(0);
});

test("contended is not empty: claims again, with distance", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const lost: ClaimBatch = { claims: [], more: "contended", suspectsDue: false };
  for (let n = 0; n < 4; n++) world.scripted.next("claim", async () => lost as never);
  const report = await world.timing.during(start(world));
  expect(report).toMatchObject({ delivered: 1, endedBy: "empty" });
  expect(world.timing.monotonic()).toBeGreaterThan(1_000 + 10 + 20 + 40 + 50);
});

test("a claim that fails rejects, after what is in hand is finished or given back", async () => {
  const world = new DrainWorld();
  await world.enqueue(20);
  world.emitter.behave = () => world.timing.sleep(500);
  world.scripted.next("claim", (call) => call(), failing("permanent"));
  const done = start(world, { emitConcurrency: 4, batchSize: 5 });
  await expect(world.timing.during(done)).rejects.toMatchObject({ kind: "permanent" });
  expect(world.count("delivered")).toBe(4);
  expect(world.count("pending")).toBe(16);
  expect(world.leased).toBe(0);
  expect(world.timing.sleeping).toBe(0);
});

test("results that cannot be written for 10 s reject; nothing is claimed meanwhile", async () => {
  const world = new DrainWorld();
  await world.enqueue(30);
  world.scripted.always("completeClaims", failing());
  const begun = world.timing.monotonic();
  const done = start(world, { batchSize: 10 });
  await expect(world.timing.during(done)).rejects.toMatchObject({ kind: "transient" });
  expect(world.emitter.calls.length).toBeLessThanOrEqual(20);
  expect(world.timing.monotonic() - begun).toBeLessThan(60_000);
});

test("a store that never answers does not hold the drain for ever", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.scripted.always("claim", silent);
  const done = start(world);
  await expect(world.timing.during(done)).rejects.toMatchObject({ kind: "unknown-outcome" });
});
