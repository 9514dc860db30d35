import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { obeysSignal, waits } from "../testing-doubles/recording-emitter.js";
import { answeringAfter, failing, silent } from "../testing-doubles/store-fault.js";
import { type DrainOnceOptions, drainWithTiming } from "./drain.js";
import type { OutboxEvent } from "./outbox-event.js";

function start(world: DrainWorld, options: Partial<DrainOnceOptions> = {}) {
  const { store, emitter, timing } = world;
  return drainWithTiming({ store, emitter, ...options }, timing);
}

test("what cannot be started within its lease is given back unstarted, and costs no retry", async () => {
  const world = new DrainWorld();
  await world.enqueue(100);
  world.emitter.behave = () => world.timing.sleep(10_000);
  const options = { emitConcurrency: 2, leaseDurationMs: 30_000, maxCount: 100 };
  const report = await world.timing.during(start(world, options));
  // Started at 0, 10 and 20 s; at 27 s only the margin is left.
  expect(report).toMatchObject({ claimed: 100, delivered: 6, released: 94, stale: 0 });
  expect(world.entry("e7")).toMatchObject({
    status: "pending",
    retryCount: 0,
    claimAttemptCount: 1,
    abandonedClaimCount: 0,
  });
});

test("nothing starts with less than the margin left", async () => {
  const world = new DrainWorld();
  await world.enqueue(200);
  const leftAtStart: number[] = [];
  world.emitter.behave = ({ context: { claim } }) => {
    leftAtStart.push((claim?.deadline.monotonicMs ?? 0) - world.timing.monotonic());
    return world.timing.sleep(1_700);
  };
  const options = { emitConcurrency: 3, leaseDurationMs: 9_000, leaseMarginMs: 2_500 };
  await world.timing.during(start(world, { ...options, maxCount: 100 }));
  expect(Math.min(...leftAtStart)).toBeGreaterThan(2_500);
});

test("later claims ask for no more than a third of a lease can finish", async () => {
  const world = new DrainWorld();
  await world.enqueue(150);
  world.emitter.behave = () => world.timing.sleep(2_000);
  const claimed: number[] = [];
  const observer = (event: OutboxEvent) => {
    if (event.type === "claim") claimed.push(event.count);
  };
  const options = { emitConcurrency: 2, leaseDurationMs: 30_000, observer };
  const report = await world.timing.during(start(world, options));
  expect(report.delivered).toBe(150);
  expect(claimed[0]).toBe(100);
  // Two slots, ten seconds, two seconds each.
  expect(Math.max(...claimed.slice(1))).toBeLessThanOrEqual(10);
  expect(report.released).toBeLessThan(100);
});

test("renewal at a third keeps a long emission's lease alive", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => world.timing.sleep(100_000);
  const options = { leaseDurationMs: 10_000, emitTimeoutMs: 200_000 };
  const report = await world.timing.during(start(world, options));
  expect(report).toMatchObject({ delivered: 1, stale: 0, released: 0 });
  expect(world.entry("e1").claimAttemptCount).toBe(1);
  expect(world.emitter.calls[0]?.context.signal.aborted).toBe(false);
  expect(world.scripted.calls.extendClaims).toBeGreaterThanOrEqual(25);
  expect(world.scripted.calls.extendClaims).toBeLessThanOrEqual(30);
});

test("without renewal the signal is aborted when the lease runs out, not before", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = obeysSignal;
  world.scripted.always("extendClaims", failing());
  const done = start(world, { leaseDurationMs: 15_000, maxCount: 1 });
  await world.timing.advance(14_999);
  const signal = world.emitter.calls[0]?.context.signal;
  expect(signal?.aborted).toBe(false);
  await world.timing.advance(1);
  expect(signal?.aborted).toBe(true);
  expect(signal?.reason).toMatchObject({ code: "outbox.lease_lost" });
  // An emitter that obeys has not failed.
  expect(await world.timing.during(done)).toMatchObject({ released: 1, delivered: 0 });
  expect(world.entry("e1")).toMatchObject({ status: "pending", retryCount: 0, failures: [] });
});

test("a renewal that never answers is followed by another", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => world.timing.sleep(60_000);
  world.scripted.next("extendClaims", silent);
  const options = { leaseDurationMs: 30_000, emitTimeoutMs: 100_000 };
  const report = await world.timing.during(start(world, options));
  expect(report).toMatchObject({ delivered: 1, stale: 0 });
  expect(world.emitter.calls[0]?.context.signal.aborted).toBe(false);
});

test("the signal is aborted the moment the store says that the lease is another's", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const events: OutboxEvent[] = [];
  world.emitter.behave = () => waits;
  const options = { leaseDurationMs: 30_000, maxCount: 1 };
  const done = start(world, { ...options, observer: (event) => events.push(event) });
  await world.timing.settle();
  takeOver(world, "e1");
  await world.timing.advance(11_000);
  const call = world.emitter.calls[0];
  expect(call?.context.signal.reason).toMatchObject({ code: "outbox.lease_lost" });
  expect(events).toContainEqual(expect.objectContaining({ type: "lease-lost", reason: "taken" }));
  // The late result is offered; the token decides.
  call?.end();
  expect(await world.timing.during(done)).toMatchObject({
    delivered: 0,
    stale: 1,
    expectedDuplicates: 1,
  });
});

test("a late result is written if nobody has claimed the entry since", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => world.timing.sleep(25_000);
  world.scripted.always("extendClaims", failing());
  const done = start(world, { leaseDurationMs: 15_000, maxCount: 1 });
  const report = await world.timing.during(done);
  expect(world.emitter.calls[0]?.context.signal.aborted).toBe(true);
  expect(report).toMatchObject({ delivered: 1, stale: 0, expectedDuplicates: 0 });
});

test("a renewal is not reported lost for an entry that was finished meanwhile", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const renewals: OutboxEvent[] = [];
  world.emitter.behave = () => world.timing.sleep(10_500);
  world.scripted.always("extendClaims", async (call) => {
    await world.timing.sleep(2_000);
    return call();
  });
  const observer = (event: OutboxEvent) => {
    if (event.type === "renewal") renewals.push(event);
  };
  const done = start(world, { leaseDurationMs: 30_000, observer });
  await world.timing.during(done);
  await world.timing.advance(5_000);
  expect(renewals).toEqual([expect.objectContaining({ count: 1, lost: 0 })]);
});

test("claims that arrive with dead leases end in an error instead of a hot loop", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  world.scripted.always("claim", answeringAfter(1_500, world.timing));
  const done = start(world, { leaseDurationMs: 2_000 });
  await expect(world.timing.during(done)).rejects.toMatchObject({
    code: "outbox.lease_too_short",
  });
  expect(world.emitter.calls).toEqual([]);
  expect(world.scripted.calls.claim).toBe(3);
  expect(world.leased).toBe(0);
});

function takeOver(world: DrainWorld, entryId: string): void {
  const row = world.outbox.rows.get(entryId);
  if (row === undefined) throw new Error(`no entry ${entryId}`);
  world.outbox.rows.set(entryId, { ...row, entry: { ...row.entry, claimToken: "another's" } });
}
