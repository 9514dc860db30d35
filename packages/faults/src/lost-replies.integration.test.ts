import { expect, test } from "vitest";
import { createFaultWorld } from "./fault-world.js";
import { isClaim, isCompletion } from "./outbox-requests.js";
import { until } from "./until.js";

test("entries whose claim was committed but not answered are emitted within two seconds", async () => {
  const { outbox, receiver, proxy, startWorker } = await createFaultWorld();
  await outbox.enqueue(50);
  let droppedAt = 0;
  const dropped = proxy.dropReply({ of: isClaim }).then(() => {
    droppedAt = performance.now();
  });
  const worker = startWorker({ worker: { leaseDurationMs: 60_000 } });
  await dropped;
  await until(async () => receiver.received.length >= 50, { what: "all are emitted" });
  const tookMs = performance.now() - droppedAt;
  console.log(`claim reply dropped: all 50 emitted ${Math.round(tookMs)} ms later`);
  expect(tookMs).toBeLessThan(2_000);
  await until(async () => (await outbox.count("delivered")) === 50, { what: "all are delivered" });
  expect(receiver.duplicates).toEqual([]);
  for (const entry of await outbox.entries()) {
    expect(entry).toMatchObject({ abandonedClaimCount: 0, claimAttemptCount: 1, retryCount: 0 });
  }
  expect((await worker.stop()).end).toMatchObject({ code: 0 });
});

test("results that were committed but not acknowledged are neither emitted nor counted twice", async () => {
  const { outbox, receiver, proxy, startWorker } = await createFaultWorld(({ entryId }) =>
    entryId === "e7" ? 503 : 202,
  );
  await outbox.enqueue(50);
  const dropped = proxy.dropReply({ of: isCompletion });
  const worker = startWorker({ worker: { retryDelayMs: 60_000 } });
  await dropped;
  await until(async () => (await worker.ask()).health.unfinalized === 0, {
    what: "all is written",
  });
  expect(await outbox.count("delivered")).toBe(49);
  expect(receiver.duplicates).toEqual([]);
  const { answer } = await worker.stop();
  expect(answer.health.expectedDuplicates).toBe(0);
  expect(answer.events).toMatchObject({
    "transition delivered applied": 49,
    "transition retryable-failure applied": 1,
  });
  const failed = (await outbox.entries()).filter(({ status }) => status !== "delivered");
  expect(failed).toMatchObject([{ entryId: "e7", retryCount: 1, claimAttemptCount: 1 }]);
});
