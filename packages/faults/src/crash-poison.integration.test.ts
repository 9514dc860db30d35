import { expect, test } from "vitest";
import { createFaultWorld } from "./fault-world.js";
import { until } from "./until.js";
import type { PointFault } from "./worker/point-fault.js";

const deadly = (entryId: string): PointFault => ({ at: "emitting", entryId, fault: "kill" });

/** A whole outbox in flight in one process, and leases that end soon. */
const allInFlight = {
  leaseDurationMs: 1_500,
  batchSize: 1_000,
  emitConcurrency: 1_000,
  pollIntervalMs: 200,
};

test.each([
  { poison: ["e1000"], mostCrashes: 6 },
  { poison: ["e334", "e667", "e1000"], mostCrashes: 13 },
])(
  "of 1 000 in flight, $poison kill their process: they alone are dead-lettered, after at most $mostCrashes crashes",
  async ({ poison, mostCrashes }) => {
    const { outbox, receiver, superviseWorker } = await createFaultWorld();
    await outbox.enqueue(1_000);
    const begunAt = performance.now();
    const supervised = superviseWorker({ worker: allInFlight, faults: poison.map(deadly) });
    let enqueued = 1_000;
    const isDone = async () => {
      if ((await outbox.count("dead-lettered")) === poison.length) {
        return (await outbox.count("delivered")) === enqueued - poison.length;
      }
      // Something to deliver now and then, as in production: without it nothing would show that
      // the process is well, and the entries would wait.
      await outbox.enqueue(1);
      enqueued += 1;
      return false;
    };
    await Promise.race([
      until(isDone, { what: "each entry has come to an end", withinMs: 110_000, everyMs: 500 }),
      supervised.failure,
    ]);
    const seconds = (performance.now() - begunAt) / 1_000;
    console.log(
      `${poison.length} deadly of 1 000: ${supervised.crashes} crashes, ${seconds.toFixed(1)} s, ` +
        `${receiver.duplicates.length} duplicates`,
    );
    const ended = await outbox.entries();
    expect(ended.filter(({ status }) => status === "dead-lettered")).toMatchObject(
      poison.map((entryId) => ({
        entryId,
        deadLetterReason: "outbox.max_abandoned_claims_exceeded",
        retryCount: 0,
      })),
    );
    expect(ended.filter(({ status }) => status === "delivered")).toHaveLength(
      enqueued - poison.length,
    );
    expect(supervised.crashes).toBeLessThanOrEqual(mostCrashes);
    expect((await supervised.stop()).end).toMatchObject({ code: 0 });
  },
);

test("a deployment that kills the worker six times in a row dead-letters nobody", async () => {
  const { outbox, receiver, superviseWorker } = await createFaultWorld(async () => {
    // Long enough that something is always in flight.
    await new Promise((resolve) => setTimeout(resolve, 30));
    return 202;
  });
  await outbox.enqueue(300);
  const supervised = superviseWorker({
    worker: { leaseDurationMs: 1_500, batchSize: 20, pollIntervalMs: 100 },
  });
  // After so many emissions of each process.
  for (const emissions of [1, 5, 1, 17, 3, 1]) {
    const victim = supervised.current;
    const before = receiver.received.length;
    await until(() => receiver.received.length >= before + emissions, { what: "it emits" });
    await victim.kill();
    await until(() => supervised.current !== victim, { what: "another is started" });
  }
  expect(supervised.crashes).toBe(6);
  await until(async () => (await outbox.count("delivered")) === 300, {
    what: "all are delivered",
    withinMs: 60_000,
    everyMs: 100,
  });
  expect(await outbox.count("dead-lettered")).toBe(0);
  const counted = (await outbox.entries()).reduce((sum, { retryCount }) => sum + retryCount, 0);
  expect(counted).toBe(0);
  await supervised.stop();
});
