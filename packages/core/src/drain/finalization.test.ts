import { expect, test } from "vitest";
import { StoreError } from "../errors/store-error.js";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { waits } from "../testing-doubles/recording-emitter.js";
import { failing, held, replyLost, silent, throwing } from "../testing-doubles/store-fault.js";
import { startWorker } from "../testing-doubles/worker-of.js";
import { type DrainOnceOptions, drainWithTiming } from "./drain.js";
import type { OutboxEvent } from "./outbox-event.js";

function start(world: DrainWorld, options: Partial<DrainOnceOptions> = {}) {
  const { store, emitter, timing } = world;
  return drainWithTiming({ store, emitter, ...options }, timing);
}

test("results that the store refuses at first are written later, and not emitted again", async () => {
  const world = new DrainWorld();
  await world.enqueue(50);
  world.scripted.next("completeClaims", failing(), failing(), failing("unknown-outcome"));
  const report = await world.timing.during(start(world));
  expect(report).toMatchObject({ delivered: 50, stale: 0, expectedDuplicates: 0 });
  expect(world.emitter.calls).toHaveLength(50);
});

test("leases of unwritten results are renewed, so that nobody emits them again", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  const worker = startWorker(world, { leaseDurationMs: 10_000 });
  world.scripted.always("completeClaims", failing());
  await world.timing.advance(60_000);
  expect(world.emitter.calls).toHaveLength(5);
  expect(world.entry("e1").claimAttemptCount).toBe(1);
  expect(worker.health()).toMatchObject({ unfinalized: 5, status: "unhealthy" });
  world.scripted.always("completeClaims", null);
  await world.timing.advance(11_000);
  expect(world.count("delivered")).toBe(5);
  expect(world.emitter.calls).toHaveLength(5);
  expect(worker.health()).toMatchObject({ unfinalized: 0, status: "healthy" });
  await world.timing.during(worker.stop());
});

test("a lost reply is followed by a repetition that counts nothing twice", async () => {
  const world = new DrainWorld();
  await world.enqueue(2);
  world.emitter.behave = () => {
    throw new Error("no");
  };
  world.scripted.next("completeClaims", replyLost);
  const report = await world.timing.during(start(world, { maxCount: 2 }));
  expect(report).toMatchObject({ stale: 0, expectedDuplicates: 0 });
  expect(world.entry("e1")).toMatchObject({ status: "retryable-failure", retryCount: 1 });
});

test("missing after a lost reply is our own delete", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  deleteOnDelivered(world);
  world.scripted.next("completeClaims", replyLost);
  const report = await world.timing.during(start(world));
  expect(report).toMatchObject({ delivered: 1, stale: 0, expectedDuplicates: 0 });
});

test("missing at the first try is somebody else's, and said", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => {
    for (const row of world.outbox.rows.values()) world.outbox.delete(row);
  };
  const report = await world.timing.during(start(world));
  expect(report).toMatchObject({ delivered: 0, stale: 1, expectedDuplicates: 1 });
});

test("at maxUnfinalized nothing more is claimed, until results are written", async () => {
  const world = new DrainWorld();
  await world.enqueue(100);
  const options = { maxUnfinalized: 12, batchSize: 10, emitConcurrency: 4 };
  world.scripted.always("completeClaims", failing());
  const worker = startWorker(world, options);
  await world.timing.advance(5_000);
  expect(world.emitter.calls).toHaveLength(12);
  expect(world.leased).toBe(12);
  expect(worker.health().unfinalized).toBe(12);
  world.scripted.always("completeClaims", null);
  await world.timing.advance(15_000);
  expect(world.count("delivered")).toBe(100);
  expect(Object.values(world.emitter.timesEmitted)).toEqual(Array(100).fill(1));
  await world.timing.during(worker.stop());
});

test("one result that the store refuses does not hold up the others", async () => {
  const world = new DrainWorld();
  await world.enqueue(40);
  refuseForEver(world, "e7");
  const worker = startWorker(world);
  await world.timing.advance(5_000);
  expect(world.count("delivered")).toBe(39);
  // At most a backoff later.
  await world.enqueue(20);
  await world.timing.advance(11_000);
  expect(world.count("delivered")).toBe(59);
  // Held, not emitted again.
  await world.timing.advance(120_000);
  expect(world.emitter.timesEmitted["e7"]).toBe(1);
  expect(worker.health()).toMatchObject({ unfinalized: 1, status: "unhealthy" });
  expect(await world.timing.during(worker.stop())).toMatchObject({ unfinalized: 1, left: [] });
});

test("what could not be written is counted as expected duplicates, releases are not", async () => {
  const world = new DrainWorld();
  await world.enqueue(30);
  const events: OutboxEvent[] = [];
  world.emitter.behave = () => world.timing.sleep(100);
  const observer = (event: OutboxEvent) => events.push(event);
  const worker = startWorker(world, { emitConcurrency: 3, observer });
  await world.timing.advance(50);
  world.scripted.outage(failing());
  const report = await world.timing.during(worker.stop({ timeoutMs: 1_000 }));
  expect(report).toMatchObject({ released: 27, unfinalized: 3 });
  expect(worker.health().expectedDuplicates).toBe(3);
  expect(events).toContainEqual(expect.objectContaining({ type: "expected-duplicates", count: 3 }));
});

test("a write that is under way when a stop runs out of time counts as unwritten", async () => {
  const world = new DrainWorld();
  await world.enqueue(4);
  world.scripted.always("completeClaims", silent);
  const worker = startWorker(world);
  await world.timing.advance(100);
  expect(await world.timing.during(worker.stop({ timeoutMs: 500 }))).toMatchObject({
    unfinalized: 4,
  });
});

test("a late delivery replaces a timeout that is not written yet", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => waits;
  const gate = held();
  world.scripted.always("completeClaims", failing());
  const worker = startWorker(world, { emitTimeoutMs: 1_000 });
  await world.timing.advance(1_500);
  world.emitter.calls[0]?.end();
  await world.timing.settle();
  gate.release();
  world.scripted.always("completeClaims", null);
  await world.timing.advance(11_000);
  expect(world.entry("e1")).toMatchObject({ status: "delivered", retryCount: 0 });
  await world.timing.during(worker.stop());
});

test("a broken store that answers too little is not taken for success", async () => {
  const world = new DrainWorld();
  await world.enqueue(3);
  world.scripted.next("completeClaims", async () => [] as never);
  expect(await world.timing.during(start(world))).toMatchObject({ delivered: 3 });
});

test("whatever a store throws, the results are kept", async () => {
  const shy = {
    toString() {
      throw new Error("no text");
    },
  };
  for (const thrown of [shy, undefined, Object.create(null), "text", new Error("plain")]) {
    const world = new DrainWorld();
    await world.enqueue(3);
    const worker = startWorker(world);
    world.scripted.next("completeClaims", throwing(thrown), throwing(thrown));
    await world.timing.advance(2_000);
    expect(world.count("delivered")).toBe(3);
    expect(world.emitter.calls).toHaveLength(3);
    await world.timing.during(worker.stop());
  }
});

/** As a store with delete-on-delivered does, also when its reply is lost. */
function deleteOnDelivered(world: DrainWorld): void {
  const { completeClaims } = world.memory;
  Object.assign(world.memory, {
    completeClaims: async (completions: Parameters<typeof completeClaims>[0]) => {
      const transitions = await completeClaims(completions);
      for (const row of world.outbox.rows.values()) {
        if (row.entry.status === "delivered") world.outbox.delete(row);
      }
      return transitions;
    },
  });
}

/** As a trigger on the host's table might. */
function refuseForEver(world: DrainWorld, entryId: string): void {
  const { completeClaims } = world.store;
  Object.assign(world.store, {
    completeClaims: (completions: Parameters<typeof completeClaims>[0]) =>
      completions.some(({ claim }) => claim.entry.entryId === entryId)
        ? Promise.reject(new StoreError("complete", "permanent", "refused", undefined))
        : completeClaims(completions),
  });
}
