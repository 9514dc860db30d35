import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { RecordingLogger } from "../testing-doubles/recording-logger.js";
import { failing, silent, throwing } from "../testing-doubles/store-fault.js";
import { startWorker } from "../testing-doubles/worker-of.js";

const down = "error: outbox store is failing; the worker keeps trying with backoff";
const up = "info: outbox store answers again";

test("an outage is survived: backoff, one line per change, health by age, all delivered", async () => {
  const world = new DrainWorld();
  const logger = new RecordingLogger();
  const worker = startWorker(world, { logger });
  await world.timing.advance(1_000);
  expect(worker.health()).toMatchObject({ status: "healthy", consecutiveFailures: 0 });

  world.scripted.outage(failing());
  await world.enqueue(10);
  const before = world.scripted.calls.claim;
  await world.timing.advance(10_000);
  expect(worker.health().status).toBe("degraded");
  await world.timing.advance(25_000);
  const health = worker.health();
  expect(health).toMatchObject({ status: "unhealthy", lastError: "scripted: transient" });
  expect(health.problems.join()).toMatch(/no claim or other progress for 3\d s/);
  await world.timing.advance(600_000);
  const tries = world.scripted.calls.claim - before;
  // Doubling to 30 s: about ten on the way, then at most one in 15 s.
  expect(tries).toBeGreaterThan(20);
  expect(tries).toBeLessThan(55);
  expect(logger.lines).toEqual([down]);

  world.scripted.outage(null);
  await world.timing.advance(31_000);
  expect(world.count("delivered")).toBe(10);
  expect(logger.lines).toEqual([down, up]);
  expect(worker.health()).toMatchObject({ status: "healthy", problems: [] });
  await world.timing.during(worker.stop());
});

test("a worker that never reached its store turns unhealthy, too", async () => {
  const world = new DrainWorld();
  world.scripted.outage(failing());
  const worker = startWorker(world, { unhealthyAfterMs: 5_000 });
  await world.timing.advance(5_500);
  expect(worker.health()).toMatchObject({ status: "unhealthy", lastClaimAt: null });
  await world.timing.during(worker.stop());
});

test.each<[string, unknown]>([
  ["an object that cannot be shown", Object.create(null)],
  ["nothing", undefined],
  ["a text", "text"],
  ["a refused argument", new TypeError("broken driver")],
])("throwing %s does not end the loop", async (_, thrown) => {
  const world = new DrainWorld();
  const worker = startWorker(world);
  world.scripted.outage(throwing(thrown));
  await world.timing.advance(5_000);
  world.scripted.outage(null);
  await world.enqueue(1);
  await world.timing.advance(31_000);
  expect(world.count("delivered")).toBe(1);
  await world.timing.during(worker.stop());
});

test("a store that never answers does not end the loop", async () => {
  const world = new DrainWorld();
  const worker = startWorker(world, { leaseDurationMs: 10_000 });
  world.scripted.outage(silent);
  await world.timing.advance(45_000);
  expect(worker.health()).toMatchObject({ status: "unhealthy" });
  expect(worker.health().lastError).toMatch(/did not answer within 10000 ms/);
  world.scripted.outage(null);
  await world.enqueue(3);
  await world.timing.advance(60_000);
  expect(world.count("delivered")).toBe(3);
  await world.timing.during(worker.stop());
});

test("completions alone failing is one state, though claims go on working", async () => {
  const world = new DrainWorld();
  const logger = new RecordingLogger();
  const worker = startWorker(world, { logger });
  world.scripted.always("completeClaims", failing("permanent"));
  await world.enqueue(1);
  await world.timing.advance(25_000);
  expect(logger.lines).toEqual([down]);
  expect(worker.health()).toMatchObject({ status: "degraded", unfinalized: 1 });
  await world.timing.advance(10_000);
  expect(worker.health().status).toBe("unhealthy");
  world.scripted.always("completeClaims", null);
  await world.timing.advance(11_000);
  expect(logger.lines).toEqual([down, up]);
  expect(worker.health().status).toBe("healthy");
  await world.timing.during(worker.stop());
});

test("after an outage leases are renewed before anything is claimed", async () => {
  const world = new DrainWorld();
  await world.enqueue(3);
  world.emitter.behave = () => world.timing.sleep(100_000);
  const options = { leaseDurationMs: 30_000, emitTimeoutMs: 200_000 };
  const worker = startWorker(world, options);
  await world.timing.advance(1_000);
  world.scripted.outage(failing());
  await world.timing.advance(25_000);
  const order: string[] = [];
  for (const operation of ["claim", "extendClaims"] as const) {
    world.scripted.always(operation, (call) => {
      order.push(operation);
      return call();
    });
  }
  await world.timing.advance(3_000);
  world.scripted.always("completeClaims", null);
  expect(order[0]).toBe("extendClaims");
  expect(world.entry("e1")).toMatchObject({ claimAttemptCount: 1, abandonedClaimCount: 0 });
  await world.timing.advance(90_000);
  expect(world.count("delivered")).toBe(3);
  expect(world.entry("e1").claimAttemptCount).toBe(1);
  await world.timing.during(worker.stop());
});

test("while renewal fails nothing is claimed, not even its own expired leases", async () => {
  const world = new DrainWorld();
  await world.enqueue(2);
  const worker = startWorker(world, { leaseDurationMs: 9_000 });
  world.scripted.always("completeClaims", failing());
  await world.timing.advance(2_000);
  world.scripted.always("extendClaims", failing());
  await world.timing.advance(60_000);
  // Their leases have long expired, and nobody else was there to claim them.
  expect(world.entry("e1")).toMatchObject({ claimAttemptCount: 1, abandonedClaimCount: 0 });
  world.scripted.outage(null);
  await world.timing.advance(31_000);
  expect(world.count("delivered")).toBe(2);
  expect(world.emitter.calls).toHaveLength(2);
  await world.timing.during(worker.stop());
});

test("claims that bring only dead leases slow down and say so", async () => {
  const world = new DrainWorld();
  await world.enqueue(5);
  const logger = new RecordingLogger();
  world.scripted.always("claim", async (call) => {
    const batch = await call();
    await world.timing.sleep(1_500);
    return batch;
  });
  const worker = startWorker(world, { leaseDurationMs: 2_000, logger });
  await world.timing.advance(60_000);
  expect(world.emitter.calls).toEqual([]);
  expect(world.scripted.calls.claim).toBeLessThan(20);
  expect(logger.lines).toEqual([down]);
  expect(worker.health().lastError).toMatch(/raise leaseDurationMs/);
  await world.timing.during(worker.stop());
});

test("a long emission is no reason to be unhealthy", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  world.emitter.behave = () => world.timing.sleep(280_000);
  const options = { emitConcurrency: 1, batchSize: 1, emitTimeoutMs: 300_000 };
  const worker = startWorker(world, { ...options, leaseDurationMs: 600_000 });
  for (let second = 0; second < 290; second++) {
    await world.timing.advance(1_000);
    expect(worker.health().status).toBe("healthy");
  }
  expect(worker.health().lastDeliveryAt).not.toBeNull();
  await world.timing.during(worker.stop());
});
