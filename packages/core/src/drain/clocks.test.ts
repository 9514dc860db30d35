import { expect, test } from "vitest";
import { createMemoryStore } from "../memory/create-memory-store.js";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { obeysSignal, waits } from "../testing-doubles/recording-emitter.js";
import { held } from "../testing-doubles/store-fault.js";
import { startWorker } from "../testing-doubles/worker-of.js";
import { drain } from "./drain.js";

const hour = 60 * 60 * 1_000;

const stalls = [
  ["a blocked event loop", (world: DrainWorld, ms: number) => world.timing.block(ms)],
  [
    "a blocked event loop and a wall clock set back",
    (world: DrainWorld, ms: number) => {
      world.timing.block(ms);
      world.timing.stepWall(-6 * hour);
    },
  ],
  ["a suspended machine", (world: DrainWorld, ms: number) => world.timing.suspend(ms)],
] as const;

test.each(stalls)("%s: nothing is emitted on a dead lease", async (_, stall) => {
  const world = new DrainWorld();
  await world.enqueue(20);
  world.emitter.behave = () => waits;
  // Short, so that the call that never ends does not keep suspects waiting for long.
  const options = { emitConcurrency: 2, leaseDurationMs: 30_000, emitTimeoutMs: 400 };
  const worker = startWorker(world, options);
  await world.timing.advance(100);
  stall(world, 31_000);
  const [first, second] = world.emitter.calls;
  // A slot becomes free, but the leases of what is queued are dead.
  first?.end();
  await world.timing.settle();
  await world.timing.advance(1_000);
  expect(second?.context.signal.reason).toMatchObject({ code: "outbox.lease_lost" });
  const later = world.emitter.calls.slice(2);
  expect(later.length).toBeGreaterThan(0);
  for (const { context } of later) expect(context.entry.claimAttemptCount).toBe(2);
  await world.timing.during(worker.stop());
});

test.each(stalls)("%s: obeying emitters have not failed", async (_, stall) => {
  const world = new DrainWorld();
  await world.enqueue(3);
  world.emitter.behave = obeysSignal;
  const worker = startWorker(world, { leaseDurationMs: 30_000, emitTimeoutMs: 30_000 });
  await world.timing.advance(100);
  worker.pause();
  stall(world, 40_000);
  await world.timing.advance(2_000);
  expect(world.count("pending")).toBe(3);
  expect(world.entry("e1")).toMatchObject({ retryCount: 0, failures: [] });
  await world.timing.during(worker.stop());
});

test.each(stalls)("%s while a claim is under way: its entries are given back", async (_, stall) => {
  const world = new DrainWorld();
  await world.enqueue(5);
  const gate = held();
  world.scripted.next("claim", async (call) => {
    const batch = await call();
    await gate.fault(async () => {});
    return batch;
  });
  const worker = startWorker(world, { leaseDurationMs: 30_000 });
  await world.timing.settle();
  stall(world, 31_000);
  gate.release();
  await world.timing.settle();
  expect(world.emitter.calls).toHaveLength(0);
  await world.timing.advance(1_000);
  expect(world.count("delivered")).toBe(5);
  expect(world.entry("e1")).toMatchObject({ claimAttemptCount: 2, retryCount: 0 });
  await world.timing.during(worker.stop());
});

test("a blocked process emits nothing on a dead lease, in real time", async () => {
  const store = createMemoryStore();
  await store.enqueue([{ type: "a" }, { type: "b" }, { type: "c" }]);
  const attempts: number[] = [];
  const emit = async (_: unknown, { entry }: { readonly entry: { claimAttemptCount: number } }) => {
    attempts.push(entry.claimAttemptCount);
    if (attempts.length === 1) blockFor(400);
  };
  const options = { leaseDurationMs: 300, leaseMarginMs: 50, emitConcurrency: 1 };
  const report = await drain({ store, emitter: emit, ...options });
  // The two that waited behind the block were given back and claimed anew.
  expect(attempts).toEqual([1, 2, 2]);
  expect(report).toMatchObject({ delivered: 3, released: 2 });
});

test.each([6 * hour, -6 * hour])("a wall clock that steps by %d ms does no harm", async (step) => {
  const world = new DrainWorld();
  await world.enqueue(30);
  world.emitter.behave = () => world.timing.sleep(1_000);
  const worker = startWorker(world, { emitConcurrency: 3 });
  await world.timing.advance(2_500);
  world.timing.stepWall(step);
  await world.timing.advance(30_000);
  expect(world.count("delivered")).toBe(30);
  expect(Math.max(...Object.values(world.emitter.timesEmitted))).toBe(1);
  for (const { entry } of world.outbox.rows.values()) {
    expect(entry).toMatchObject({ retryCount: 0, abandonedClaimCount: 0 });
  }
  expect(worker.health()).toMatchObject({ status: "healthy", expectedDuplicates: 0 });
  await world.timing.during(worker.stop());
});

test.each([6 * hour, -6 * hour])(
  "retries are due in time by a clock that is %d ms off",
  async (off) => {
    const world = new DrainWorld();
    await world.enqueue(1);
    world.timing.stepWall(off);
    world.emitter.behave = ({ context }) => {
      if (context.attempt === 1) throw new Error("once");
    };
    const worker = startWorker(world);
    await world.timing.advance(4_000);
    expect(world.entry("e1")).toMatchObject({ status: "delivered", retryCount: 1 });
    await world.timing.during(worker.stop());
  },
);

function blockFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
