import { expect, test } from "vitest";
import { createFaultWorld } from "./fault-world.js";
import { until } from "./until.js";

const worker = { leaseDurationMs: 1_500, emitConcurrency: 5, pollIntervalMs: 100 };

test("a process that was suspended past its leases emits nothing on them, and its late results are refused", async () => {
  const answered = deferred();
  const { outbox, receiver, startWorker } = await createFaultWorld(async ({ workerId }) => {
    if (workerId === "sleeper") await answered.promise;
    return 202;
  });
  // Their emitter does not hear that the lease was lost, and brings a result nevertheless.
  await outbox.enqueue(30, { type: "fault.deaf" });
  const sleeper = startWorker({ workerId: "sleeper", worker });
  await until(() => receiver.received.length === 5, { what: "five are in flight" });
  const inFlight = receiver.received.map(({ entryId }) => entryId);
  sleeper.suspend();
  const other = startWorker({ workerId: "other", worker });
  await until(async () => (await outbox.count("delivered")) === 30, {
    what: "the other took over",
  });
  answered.resolve();
  sleeper.resume();
  const isThrough = async () => {
    const { health } = await sleeper.ask();
    return health.emitting + health.queued + health.unfinalized === 0;
  };
  await until(isThrough, { what: "the sleeper has nothing in hand" });

  const bySleeper = receiver.received.filter(({ workerId }) => workerId === "sleeper");
  expect(bySleeper.map(({ entryId }) => entryId)).toEqual(inFlight);
  expect([...receiver.duplicates].sort()).toEqual([...inFlight].sort());
  const { answer } = await sleeper.stop();
  const applied = Object.keys(answer.events).filter((name) => name.endsWith(" applied"));
  expect(applied).toEqual([]);
  expect(answer.events["transition delivered terminal"]).toBe(5);
  expect(answer.health.expectedDuplicates).toBe(5);
  expect((await other.stop()).end.code).toBe(0);
  for (const entry of await outbox.entries()) {
    expect(entry).toMatchObject({ status: "delivered", retryCount: 0, isLeased: false });
  }
});

test("an event loop that stalls for longer than the leases emits under each claim once, and loses nothing", async () => {
  const { outbox, receiver, startWorker } = await createFaultWorld();
  await outbox.enqueue(200);
  const stalling = startWorker({
    worker,
    faults: [30, 90].map((nth) => ({ at: "emitting", nth, fault: { stallMs: 2_500 } })),
  });
  await until(async () => (await outbox.count("delivered")) === 200, {
    what: "all are delivered",
    withinMs: 60_000,
  });
  const claims = new Set(receiver.received.map(({ claimToken }) => claimToken));
  expect(claims.size).toBe(receiver.received.length);
  // Only what was in flight when the loop stalled can come twice.
  expect(receiver.duplicates.length).toBeLessThanOrEqual(2 * worker.emitConcurrency);
  const { answer } = await stalling.stop();
  for (const entry of await outbox.entries()) expect(entry).toMatchObject({ retryCount: 0 });
  console.log(
    `two stalls: ${receiver.duplicates.length} duplicates, ${answer.events["lease-lost expired"] ?? 0} leases lost in flight`,
  );
});

test("wall clocks that are six hours off change nothing: all delivered, none early, none retired", async () => {
  const { outbox, receiver, startWorker } = await createFaultWorld(({ entryId, occurrence }) =>
    Number(entryId.slice(1)) % 10 === 0 && occurrence === 1 ? 503 : 202,
  );
  await outbox.enqueue(100);
  const later = await outbox.enqueue(50, { availableInMs: 4_000 });
  const retryDelayMs = 400;
  const hours = 3_600_000;
  const workers = [6 * hours, -6 * hours].map((clockSkewMs) =>
    startWorker({
      clockSkewMs,
      worker: { ...worker, batchSize: 10, leaseDurationMs: 5_000, retryDelayMs },
    }),
  );
  await until(async () => (await outbox.count("delivered")) === 150, { what: "all are delivered" });
  const availableAt = new Map(
    (await outbox.entries()).map((entry) => [entry.entryId, entry.availableAt]),
  );
  const firstAt = new Map<string, Date>();
  for (const { entryId, at, occurrence } of receiver.received) {
    if (occurrence === 1) firstAt.set(entryId, at);
    else expect(Number(at) - Number(firstAt.get(entryId))).toBeGreaterThanOrEqual(retryDelayMs);
  }
  for (const entryId of later) {
    const due = availableAt.get(entryId);
    expect(Number(firstAt.get(entryId))).toBeGreaterThanOrEqual(Number(due));
  }
  expect(receiver.received).toHaveLength(165);
  const senders = new Set(receiver.received.map(({ workerId }) => workerId));
  expect(senders.size).toBe(2);
  for (const one of workers) {
    const { answer } = await one.stop();
    expect(answer.events["lease-lost expired"]).toBeUndefined();
    expect(answer.health.expectedDuplicates).toBe(0);
    // Its clock was off indeed.
    expect(Math.abs(Number(new Date(answer.health.lastClaimAt ?? 0)) - Date.now())).toBeGreaterThan(
      5 * hours,
    );
  }
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
