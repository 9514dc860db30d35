import { expect, test } from "vitest";
import { createFaultWorld } from "./fault-world.js";
import { until } from "./until.js";

test("10 000 emissions leave no listeners, timers or connections, and the heap as it was", async () => {
  const { outbox, startWorker } = await createFaultWorld();
  const worker = startWorker({ exposeGc: true, receiverUrl: null });
  const heaps: number[] = [];
  const measure = async (delivered: number) => {
    await until(async () => (await outbox.count("delivered")) === delivered, {
      what: `${delivered} are delivered`,
    });
    const { resources } = await worker.ask();
    heaps.push(resources.heapUsedBytes);
    return resources;
  };
  await outbox.enqueue(2_000);
  const before = await measure(2_000);
  for (let round = 2; round <= 6; round++) {
    await outbox.enqueue(2_000);
    await measure(2_000 * round);
  }
  const after = (await worker.ask()).resources;
  console.log(
    `heap in MiB after each 2 000 emissions: ${heaps.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(" ")}; ` +
      `active before ${JSON.stringify(before.active)}, after ${JSON.stringify(after.active)}`,
  );
  expect(after.signalListeners).toBe(0);
  expect(after.processListeners).toBe(before.processListeners);
  expect(after.warnings).not.toContain("MaxListenersExceededWarning");
  expect(after.active["Timeout"] ?? 0).toBeLessThanOrEqual((before.active["Timeout"] ?? 0) + 1);
  expect(after.active["TCPSocketWrap"] ?? 0).toBeLessThanOrEqual(
    (before.active["TCPSocketWrap"] ?? 0) + 1,
  );
  // 100 bytes an emission would be a leak of 1 MiB.
  expect(Math.min(...heaps.slice(-2)) - Math.min(...heaps.slice(0, 2))).toBeLessThan(2 ** 20);

  const { resources } = await worker.command({ kind: "stop" });
  expect(resources.active["Timeout"] ?? 0).toBeLessThanOrEqual(1);
  expect((await worker.stop()).end).toMatchObject({ code: 0 });
});
