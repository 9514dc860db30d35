import { expect, test } from "vitest";
import { createFaultWorld } from "./fault-world.js";
import { until } from "./until.js";

const worker = {
  emitTimeoutMs: 1_500,
  retryDelayMs: 50,
  maxRetryDelayMs: 50,
  pollIntervalMs: 100,
  stopTimeoutMs: 1_000,
  circuit: false,
} as const;

const misbehaviours = [
  "fault.hang",
  "fault.throw-undefined",
  "fault.throw-text",
  "fault.throw-hostile",
  "fault.reject-null",
  "fault.answer-nonsense",
];

test("emitters that hang or throw anything, and an observer that throws, stop neither the worker nor its end", async () => {
  const { outbox, receiver, proxy, startWorker } = await createFaultWorld();
  for (const type of misbehaviours) await outbox.enqueue(5, { type });
  await outbox.enqueue(50);
  const process = startWorker({ worker, observerThrows: true });
  const all = 5 * misbehaviours.length + 50;
  await until(async () => (await outbox.count("delivered")) === all, { what: "all are delivered" });
  const { events } = await process.ask();
  // On a busy machine others may take too long as well.
  const timedOut = (events["emission-timeout"] ?? 0) - 5;
  expect(receiver.duplicates.length).toBeLessThanOrEqual(timedOut);
  const failures = (await outbox.entries()).filter(({ retryCount }) => retryCount > 0);
  expect(failures.length).toBeGreaterThanOrEqual(5 * misbehaviours.length);
  expect(failures.length).toBeLessThanOrEqual(5 * misbehaviours.length + timedOut);

  // Stopped and started again in the same process, twice.
  for (const round of [1, 2]) {
    await process.command({ kind: "stop" });
    await outbox.enqueue(10);
    expect((await process.ask()).health.status).toBe("stopped");
    await process.command({ kind: "start" });
    await until(async () => (await outbox.count("delivered")) === all + 10 * round, {
      what: "it works again",
    });
  }
  // Hanging while it is told to stop.
  await outbox.enqueue(3, { type: "fault.hang" });
  await until(async () => (await process.ask()).health.emitting === 3, { what: "three hang" });
  const { answer, end } = await process.stop();
  expect(end).toMatchObject({ code: 0, signal: null });
  expect(answer.stop).toMatchObject({ unfinalized: 0 });
  await until(() => proxy.connections === 0, { what: "every connection is closed" });
  for (const entry of await outbox.entries()) expect(entry.isLeased).toBe(false);
});
