import { expect, test } from "vitest";
import { createFaultWorld } from "./fault-world.js";
import { isClaim } from "./outbox-requests.js";
import { until } from "./until.js";

test("a database that went silent: health says so, and after it is back nothing is lost or emitted again", async () => {
  const { outbox, receiver, proxy, startWorker } = await createFaultWorld();
  await outbox.enqueue(400);
  const worker = startWorker({
    worker: { leaseDurationMs: 60_000, batchSize: 50, unhealthyAfterMs: 1_000 },
    store: { queryTimeoutMs: 500, connectionTimeoutMs: 500, listenKeepAliveMs: 500 },
  });
  await until(() => receiver.received.length >= 20, { what: "some are emitted", everyMs: 2 });
  proxy.blackHole();
  await until(
    async () => {
      const { health } = await worker.ask();
      return health.status === "unhealthy" && health.wakeUp === "disconnected";
    },
    { what: "health is unhealthy" },
  );
  proxy.heal();
  const healedAt = performance.now();
  await until(async () => (await outbox.count("delivered")) === 400, { what: "all are delivered" });
  console.log(`silent database: caught up ${Math.round(performance.now() - healedAt)} ms after it`);
  await until(async () => (await worker.ask()).health.status === "healthy", { what: "healthy" });
  expect(receiver.duplicates).toEqual([]);
  for (const entry of await outbox.entries()) {
    expect(entry).toMatchObject({ retryCount: 0, abandonedClaimCount: 0 });
  }
  expect((await worker.stop()).end.code).toBe(0);
});

test("a claim that was committed before the database went away is taken up again, not abandoned", async () => {
  const { outbox, receiver, proxy, startWorker } = await createFaultWorld();
  await outbox.enqueue(50);
  const dropped = proxy.dropReply({ of: isClaim });
  const worker = startWorker({ worker: { leaseDurationMs: 60_000 } });
  await dropped;
  proxy.cut();
  await until(async () => (await worker.ask()).events["claim-error"] !== undefined, {
    what: "the store gave up repeating the claim",
  });
  proxy.heal();
  await until(() => receiver.received.length === 50, { what: "all are emitted" });
  await until(async () => (await outbox.count("delivered")) === 50, { what: "all are delivered" });
  for (const entry of await outbox.entries()) {
    expect(entry).toMatchObject({ claimAttemptCount: 1, abandonedClaimCount: 0 });
  }
  await worker.stop();
});

test("a provider that is down for two hours costs no entry a retry too many, and sees probes only", async () => {
  let isDown = true;
  const { outbox, receiver, startWorker } = await createFaultWorld(() => (isDown ? 503 : 202));
  await outbox.enqueue(10_000);
  const circuit = { openAfter: 10, firstProbeMs: 50, longestProbeMs: 200 };
  const emitConcurrency = 50;
  const worker = startWorker({ worker: { batchSize: 500, emitConcurrency, circuit } });
  await until(async () => (await worker.ask()).health.openCircuits.length > 0, {
    what: "it opens",
  });
  const openedAt = performance.now();
  for (let minutes = 0; minutes < 120; minutes += 10) {
    // By the database's clock ten minutes pass between two probes, so that all that waits is due.
    const before = receiver.received.length;
    await until(() => receiver.received.length > before, { what: "a probe" });
    await outbox.passTime(600_000);
  }
  const probesAtMost = (performance.now() - openedAt) / (0.8 * circuit.firstProbeMs);
  const whileDown = receiver.received.length;
  const entries = await outbox.entries();
  const counted = entries.reduce((sum, { retryCount }) => sum + retryCount, 0);
  expect(await outbox.count("dead-lettered")).toBe(0);
  expect(await outbox.count("failed")).toBe(0);
  expect(whileDown).toBeLessThanOrEqual(circuit.openAfter + emitConcurrency + probesAtMost);
  expect(Math.max(...entries.map(({ retryCount }) => retryCount))).toBe(1);
  expect((await worker.ask()).health).toMatchObject({ status: "degraded" });

  isDown = false;
  const backAt = performance.now();
  await until(async () => (await outbox.count("delivered")) === 10_000, {
    what: "all are delivered",
    withinMs: 90_000,
    everyMs: 250,
  });
  console.log(
    `two hours of 503: ${whileDown} requests, ${counted} failures counted; ` +
      `10 000 delivered ${((performance.now() - backAt) / 1_000).toFixed(1)} s after it`,
  );
  const { answer } = await worker.stop();
  expect(answer.events["circuit closed"]).toBe(1);
});
