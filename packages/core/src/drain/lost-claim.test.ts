import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { failing, replyLost, throwing } from "../testing-doubles/store-fault.js";
import { startWorker } from "../testing-doubles/worker-of.js";
import { ClaimSource } from "./claim-source.js";

test("entries of a claim whose reply was lost are emitted within a second, once", async () => {
  const world = new DrainWorld();
  await world.enqueue(20);
  world.scripted.next("claim", replyLost);
  // Long enough to be still in hand when the claim is repeated again.
  world.emitter.behave = () => world.timing.sleep(2_000);
  const worker = startWorker(world, { emitConcurrency: 20 });
  await world.timing.advance(1_000);
  expect(world.emitter.calls).toHaveLength(20);
  await world.timing.advance(10_000);
  expect(world.count("delivered")).toBe(20);
  expect(Object.values(world.emitter.timesEmitted)).toEqual(Array(20).fill(1));
  expect(world.entry("e1")).toMatchObject({ claimAttemptCount: 1, abandonedClaimCount: 0 });
  await world.timing.during(worker.stop());
});

test("what the repeats bring anew is emitted once as well", async () => {
  const world = new DrainWorld();
  await world.enqueue(40);
  world.scripted.next("claim", replyLost, replyLost);
  world.emitter.behave = () => world.timing.sleep(1_500);
  const worker = startWorker(world, { batchSize: 10, emitConcurrency: 20 });
  await world.timing.advance(20_000);
  expect(world.count("delivered")).toBe(40);
  expect(Object.values(world.emitter.timesEmitted)).toEqual(Array(40).fill(1));
  await world.timing.during(worker.stop());
});

test("a claim that is applied after its first repetition is found as well", async () => {
  const world = new DrainWorld();
  await world.enqueue(3);
  let applyLate: (() => Promise<unknown>) | undefined;
  world.scripted.next(
    "claim",
    async (call) => {
      applyLate = call;
      return failing("unknown-outcome")(call);
    },
    // The repetition sees nothing: the lost one is still on its way.
    async () => ({ claims: [], more: "none", suspectsDue: false }) as never,
  );
  const worker = startWorker(world);
  await world.timing.advance(150);
  await applyLate?.();
  expect(world.leased).toBe(3);
  await world.timing.advance(3_000);
  expect(world.count("delivered")).toBe(3);
  await world.timing.during(worker.stop());
});

const wanted = (maxCount: number) => ({ maxCount, types: null, suspects: false });

test("a repeat asks for as many as the lost claim did, though fewer are wanted by now", async () => {
  const world = new DrainWorld();
  await world.enqueue(30);
  const options = {
    workerId: "me",
    leaseDurationMs: 60_000,
    maxBatchBytes: 1_000_000,
    types: null,
  };
  const source = new ClaimSource(world.store, options, world.timing);
  world.scripted.next("claim", replyLost);
  await expect(source.take(wanted(10))).rejects.toMatchObject({ kind: "unknown-outcome" });
  expect((await source.take(wanted(2))).items.map(({ entry }) => entry.entryId)).toHaveLength(10);
  expect((await source.take(wanted(2))).items).toEqual([]);
  expect((await source.take(wanted(2))).items).toEqual([]);
  // Three repeats, and then it is an ordinary claim again.
  expect((await source.take(wanted(2))).items.map(({ entry }) => entry.entryId)).toEqual([
    "e11",
    "e12",
  ]);
});

test("any error that does not rule it out is taken for a lost reply", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  world.scripted.next("claim", async (call) => {
    await call();
    return throwing(new TypeError("the client broke while reading the reply"))(call);
  });
  const worker = startWorker(world);
  await world.timing.advance(1_000);
  expect(world.count("delivered")).toBe(5);
  await world.timing.during(worker.stop());
});
