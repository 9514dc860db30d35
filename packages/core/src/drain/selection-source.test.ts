import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { waits } from "../testing-doubles/recording-emitter.js";
import { OutboxWorkerLoop } from "../worker/outbox-worker-loop.js";
import { type DrainOnceOptions, drainWithTiming } from "./drain.js";

const error = { code: "busy", message: "not now", isRetryable: true };

function start(world: DrainWorld, options: Partial<DrainOnceOptions> = {}) {
  const { memory, emitter, timing } = world;
  return drainWithTiming({ store: memory, emitter, useClaimLeases: false, ...options }, timing);
}

test("emits each entry once and marks it, without a claim", async () => {
  const world = new DrainWorld();
  await world.enqueue(250);
  const report = await world.timing.during(start(world));
  expect(report).toMatchObject({ claimed: 250, delivered: 250, stale: 0, endedBy: "empty" });
  expect(Object.values(world.emitter.timesEmitted)).toEqual(Array(250).fill(1));
  expect(world.entry("e1")).toMatchObject({ status: "delivered", claimAttemptCount: 0 });
  expect(world.emitter.calls[0]?.context.claim).toBeNull();
});

test("does not select what it still has in hand", async () => {
  const world = new DrainWorld();
  await world.enqueue(10);
  world.emitter.behave = () => world.timing.sleep(5_000);
  const { memory, emitter, timing } = world;
  const options = { store: memory, emitter, useClaimLeases: false, emitConcurrency: 3 };
  const worker = new OutboxWorkerLoop(options, timing);
  worker.start();
  await timing.advance(60_000);
  expect(Object.values(emitter.timesEmitted)).toEqual(Array(10).fill(1));
  await timing.during(worker.stop());
});

test("leaves leased entries alone", async () => {
  const world = new DrainWorld();
  await world.enqueue(4);
  await world.memory.claim({ workerId: "other", maxCount: 2 });
  expect(await world.timing.during(start(world))).toMatchObject({ claimed: 2, delivered: 2 });
  expect(world.emitter.emittedIds).toEqual(["e3", "e4"]);
});

test("an entry that another claims meanwhile keeps its lease; the delivery is a duplicate", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => waits;
  const done = start(world, { maxCount: 1 });
  await world.timing.settle();
  await world.memory.claim({ workerId: "other" });
  world.emitter.calls[0]?.end();
  expect(await world.timing.during(done)).toMatchObject({
    delivered: 0,
    stale: 1,
    expectedDuplicates: 1,
  });
  expect(world.entry("e1").claimOwner).toBe("other");
});

test("pending and retry-ready entries share one due order, even one by one", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  await world.memory.markFailed("e1", error, { retryInMs: 500 });
  await world.timing.advance(100);
  await world.enqueue(2);
  await world.timing.advance(1_000);
  await world.enqueue(1);
  await world.timing.during(start(world, { batchSize: 1 }));
  expect(world.emitter.emittedIds).toEqual(["e2", "e3", "e1", "e4"]);
});

test("failures, deferrals and dead letters are written", async () => {
  const world = new DrainWorld();
  await world.enqueue(4);
  await world.timing.advance(10);
  const results: Record<string, unknown> = {
    e1: { status: "retryable-failure", error, retryAfterMs: 4_000 },
    e2: { status: "deferred", retryAfterMs: 5_000, error },
    e3: { status: "dead-lettered", error, reason: "gone" },
    e4: { status: "failed", error },
  };
  world.emitter.behave = ({ entryId }) => results[entryId];
  await world.timing.during(start(world));
  const dueAt = (ms: number) => new Date(world.timing.storeNow() + ms);
  expect(world.entry("e1")).toMatchObject({ status: "retryable-failure", retryCount: 1 });
  expect(world.entry("e1").nextRetryAt).toEqual(dueAt(4_000));
  expect(world.entry("e2")).toMatchObject({
    status: "deferred",
    retryCount: 0,
    nextRetryAt: dueAt(5_000),
    failures: [{ code: "busy" }],
  });
  expect(world.entry("e3")).toMatchObject({ status: "dead-lettered", deadLetterReason: "gone" });
  expect(world.entry("e4")).toMatchObject({ status: "failed" });
});

test("what the emitter gives back waits a poll interval instead of being selected at once", async () => {
  const world = new DrainWorld();
  await world.enqueue(2);
  await world.memory.markFailed("e2", error, { retryInMs: 0 });
  await world.timing.advance(10);
  world.emitter.behave = () => ({ status: "pending" });
  expect(await world.timing.during(start(world))).toMatchObject({ claimed: 2, endedBy: "empty" });
  expect(world.emitter.calls).toHaveLength(2);
  expect(world.entry("e1")).toMatchObject({ status: "pending", retryCount: 0 });
  expect(world.entry("e2")).toMatchObject({ status: "retryable-failure", retryCount: 1 });
  await world.timing.advance(1_000);
  world.emitter.behave = () => undefined;
  expect(await world.timing.during(start(world))).toMatchObject({ delivered: 2 });
});

test("what a failed batch of marks has written is not written again", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  world.emitter.behave = () => {
    throw new Error("no");
  };
  const { markFailed } = world.memory;
  let calls = 0;
  Object.assign(world.memory, {
    markFailed: (...given: Parameters<typeof markFailed>) =>
      ++calls === 4 ? Promise.reject(new Error("lost connection")) : markFailed(...given),
  });
  await world.timing.during(start(world, { maxCount: 5 }));
  expect(world.count("retryable-failure")).toBe(5);
  for (const id of ["e1", "e2", "e3", "e4", "e5"]) expect(world.entry(id).retryCount).toBe(1);
});

test("a delivery whose reply was lost is known again", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const { markDelivered } = world.memory;
  let calls = 0;
  Object.assign(world.memory, {
    markDelivered: async (...given: Parameters<typeof markDelivered>) => {
      const transition = await markDelivered(...given);
      if (++calls === 1) throw new Error("lost connection");
      return transition;
    },
  });
  expect(await world.timing.during(start(world))).toMatchObject({
    delivered: 1,
    stale: 0,
    expectedDuplicates: 0,
  });
});
