import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { obeysSignal, waits } from "../testing-doubles/recording-emitter.js";
import { failing, held, silent } from "../testing-doubles/store-fault.js";
import { startWorker, workerOf } from "../testing-doubles/worker-of.js";

test("while asleep: at once", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world, { pollIntervalMs: 60_000 });
  await world.timing.advance(1_000);
  const before = world.timing.monotonic();
  const report = await world.timing.during(worker.stop());
  expect(report).toEqual({ released: 0, left: [], unfinalized: 0 });
  expect(world.timing.monotonic() - before).toBeLessThan(10);
  expect(world.timing.sleeping).toBe(0);
  expect(worker.health().status).toBe("stopped");
});

test("before the first claim: claims nothing", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const worker = startWorker(world);
  await world.timing.during(worker.stop());
  await world.timing.advance(5_000);
  expect(world.leased).toBe(0);
  expect(world.emitter.calls).toEqual([]);
});

test("with a claim under way: its entries are given back", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  const gate = held();
  world.scripted.next("claim", gate.fault);
  const worker = startWorker(world);
  await world.timing.settle();
  const stopped = worker.stop();
  await world.timing.advance(3_000);
  gate.release();
  expect(await world.timing.during(stopped)).toEqual({ released: 5, left: [], unfinalized: 0 });
  expect(world.emitter.calls).toEqual([]);
  expect(world.count("pending")).toBe(5);
  expect(world.leased).toBe(0);
});

test("with a claim that does not answer: in time, and its entries are given back later", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  const gate = held();
  world.scripted.next("claim", gate.fault);
  const worker = startWorker(world);
  await world.timing.settle();
  const before = world.timing.monotonic();
  await world.timing.during(worker.stop({ timeoutMs: 2_000 }));
  expect(world.timing.monotonic() - before).toBeLessThanOrEqual(4_100);
  gate.release();
  await world.timing.settle();
  expect(world.emitter.calls).toEqual([]);
  expect(world.count("pending")).toBe(5);
  expect(world.leased).toBe(0);
});

test("with running emissions: they finish, what was not started is given back", async () => {
  const world = new DrainWorld();
  await world.enqueue(30);
  world.emitter.behave = () => world.timing.sleep(3_000);
  const worker = startWorker(world, { emitConcurrency: 4 });
  await world.timing.advance(100);
  const report = await world.timing.during(worker.stop());
  expect(report).toEqual({ released: 26, left: [], unfinalized: 0 });
  expect(world.count("delivered")).toBe(4);
  expect(world.entry("e5")).toMatchObject({ status: "pending", retryCount: 0, failures: [] });
  expect(world.leased).toBe(0);
});

test("what is given back is claimable by others at once, before the emissions end", async () => {
  const world = new DrainWorld();
  await world.enqueue(10);
  world.emitter.behave = () => world.timing.sleep(15_000);
  const worker = startWorker(world, { emitConcurrency: 2 });
  await world.timing.advance(100);
  const stopped = worker.stop();
  await world.timing.advance(50);
  expect(world.leased).toBe(2);
  await world.timing.during(stopped);
});

test("running emissions keep their leases meanwhile", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => world.timing.sleep(15_000);
  const worker = startWorker(world, { leaseDurationMs: 3_000 });
  await world.timing.advance(100);
  await world.timing.during(worker.stop());
  expect(world.entry("e1")).toMatchObject({ status: "delivered", claimAttemptCount: 1 });
});

test("with emissions that obey when aborted: given back, not counted, nothing left", async () => {
  const world = new DrainWorld();
  await world.enqueue(2);
  world.emitter.behave = obeysSignal;
  const worker = startWorker(world);
  await world.timing.advance(100);
  const report = await world.timing.during(worker.stop({ timeoutMs: 3_000 }));
  expect(report).toEqual({ released: 2, left: [], unfinalized: 0 });
  expect(world.emitter.calls[0]?.context.signal.reason).toMatchObject({
    code: "outbox.worker_stopping",
  });
  expect(world.entry("e1")).toMatchObject({ status: "pending", retryCount: 0, failures: [] });
});

test("with emissions that hang: given back and reported, in time", async () => {
  const world = new DrainWorld();
  await world.enqueue(2);
  world.emitter.behave = ({ entryId }) => (entryId === "e1" ? waits : undefined);
  const worker = startWorker(world);
  await world.timing.advance(100);
  const before = world.timing.monotonic();
  const report = await world.timing.during(worker.stop({ timeoutMs: 3_000 }));
  expect(report).toEqual({
    released: 1,
    left: [{ entryId: "e1", envelopeId: "e1" }],
    unfinalized: 0,
  });
  expect(world.timing.monotonic() - before).toBeLessThanOrEqual(5_000);
  expect(world.entry("e1")).toMatchObject({ status: "pending", retryCount: 0 });
  // Its late result changes nothing that someone else has done meanwhile, and breaks nothing.
  await world.memory.claim({ workerId: "other" });
  world.emitter.calls[0]?.end();
  await world.timing.advance(1_000);
  expect(world.entry("e1").claimOwner).toBe("other");
  expect(world.timing.sleeping).toBe(0);
});

test("with a timeout of 0: aborts at once and still gives back", async () => {
  const world = new DrainWorld();
  await world.enqueue(12);
  world.emitter.behave = () => waits;
  const worker = startWorker(world);
  await world.timing.advance(100);
  const report = await world.timing.during(worker.stop({ timeoutMs: 0 }));
  expect(report.left).toHaveLength(10);
  expect(world.count("pending")).toBe(12);
  expect(world.leased).toBe(0);
});

test("an emission that times out during a stop has failed, once", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = obeysSignal;
  const worker = startWorker(world, { emitTimeoutMs: 5_000 });
  await world.timing.advance(100);
  const report = await world.timing.during(worker.stop());
  expect(report).toEqual({ released: 0, left: [], unfinalized: 0 });
  expect(world.entry("e1")).toMatchObject({ status: "retryable-failure", retryCount: 1 });
});

test("a call that is overdue already is not given back a second time", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => waits;
  const worker = startWorker(world, { emitTimeoutMs: 1_000, retryDelayMs: 600_000 });
  await world.timing.advance(1_500);
  const stopped = worker.stop();
  world.emitter.calls[0]?.fail(new Error("at last"));
  expect(await world.timing.during(stopped)).toMatchObject({ released: 0 });
  expect(world.entry("e1").retryCount).toBe(1);
});

test("with finalization failing: tried until time is up, then reported", async () => {
  const world = new DrainWorld();
  await world.enqueue(6);
  world.scripted.always("completeClaims", failing());
  const worker = startWorker(world);
  await world.timing.advance(500);
  const before = world.timing.monotonic();
  const report = await world.timing.during(worker.stop({ timeoutMs: 4_000 }));
  expect(report).toEqual({ released: 0, left: [], unfinalized: 6 });
  expect(world.timing.monotonic() - before).toBeLessThanOrEqual(6_000);
  expect(world.timing.sleeping).toBe(0);
});

test("with finalization in a long backoff: tried at once instead", async () => {
  const world = new DrainWorld();
  await world.enqueue(6);
  world.scripted.always("completeClaims", failing());
  const worker = startWorker(world);
  await world.timing.advance(60_000);
  world.scripted.always("completeClaims", null);
  const before = world.timing.monotonic();
  const report = await world.timing.during(worker.stop());
  expect(report).toEqual({ released: 0, left: [], unfinalized: 0 });
  expect(world.timing.monotonic() - before).toBeLessThan(200);
  expect(world.count("delivered")).toBe(6);
});

test("with a store that answers nothing at all: in time", async () => {
  const world = new DrainWorld();
  await world.enqueue(20);
  world.emitter.behave = () => world.timing.sleep(500);
  const worker = startWorker(world);
  await world.timing.advance(100);
  world.scripted.outage(silent);
  await world.timing.advance(2_000);
  const before = world.timing.monotonic();
  const report = await world.timing.during(worker.stop({ timeoutMs: 3_000 }));
  expect(world.timing.monotonic() - before).toBeLessThanOrEqual(5_100);
  expect(report.unfinalized).toBeGreaterThan(0);
  expect(world.timing.sleeping).toBe(0);
});

test("with a wake-up subscription that does not close: in time", async () => {
  for (const subscribe of [
    () => new Promise(() => {}),
    async () => ({ connected: true, close: () => new Promise(() => {}) }),
    async () => ({
      connected: true,
      close() {
        throw new Error("no");
      },
    }),
  ]) {
    const world = new DrainWorld();
    Object.assign(world.store, { subscribe });
    const worker = startWorker(world);
    await world.timing.advance(1_000);
    const before = world.timing.monotonic();
    await world.timing.during(worker.stop({ timeoutMs: 2_000 }));
    expect(world.timing.monotonic() - before).toBeLessThanOrEqual(3_000);
    expect(world.timing.sleeping).toBe(0);
  }
});

test("with suspects that the store never hands out: the process is free for the next run", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  await world.memory.claim({ workerId: "dead", leaseDurationMs: 1_000 });
  await world.timing.advance(2_000);
  // The second claim is for suspects, and has the process to itself.
  world.scripted.next("claim", (call) => call(), silent);
  const worker = startWorker(world);
  await world.timing.advance(500);
  expect(world.scripted.calls.claim).toBe(2);
  await world.timing.during(worker.stop({ timeoutMs: 100 }));
  await world.enqueue(3);
  worker.start();
  await world.timing.advance(5_000);
  expect(world.count("delivered")).toBe(4);
  await world.timing.during(worker.stop());
});

test("from inside an emission", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  const worker = workerOf(world, { emitConcurrency: 1 });
  let stopped: Promise<unknown> | undefined;
  world.emitter.behave = () => {
    stopped ??= worker.stop();
  };
  worker.start();
  await world.timing.settle();
  expect(await world.timing.during(stopped ?? Promise.resolve())).toMatchObject({ released: 4 });
  expect(world.count("delivered")).toBe(1);
  expect(world.count("pending")).toBe(4);
});

test("bad options are refused and stop nothing", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world);
  await expect(worker.stop({ timeoutMs: -1 })).rejects.toThrow(/^options\.timeoutMs /);
  await expect(worker.stop({ timeout: 5 } as never)).rejects.toThrow(/^options\.timeout /);
  await world.enqueue(1);
  await world.timing.advance(100);
  expect(world.count("delivered")).toBe(1);
  await world.timing.during(worker.stop());
});
