import { expect, test } from "vitest";
import type { WakeUpListener } from "../contract/facets.js";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { RecordingLogger } from "../testing-doubles/recording-logger.js";
import { startWorker } from "../testing-doubles/worker-of.js";

const lost = "warn: outbox wake-ups do not arrive; polling delivers meanwhile";
const back = "info: outbox wake-ups arrive again";

function worldWith(subscribe: (listener: WakeUpListener) => unknown): DrainWorld {
  const world = new DrainWorld();
  Object.assign(world.store, { subscribe });
  return world;
}

test("a subscription that fails is tried again with backoff, logged once, and polls go on", async () => {
  let tries = 0;
  let isUp = false;
  const world = worldWith(async () => {
    tries += 1;
    if (!isUp) throw new Error("no listener");
    return { connected: true, close: async () => {} };
  });
  const logger = new RecordingLogger();
  const worker = startWorker(world, { logger });
  await world.timing.advance(120_000);
  expect(tries).toBeGreaterThanOrEqual(6);
  expect(tries).toBeLessThan(16);
  expect(worker.health()).toMatchObject({ status: "degraded", wakeUp: "disconnected" });
  await world.enqueue(1);
  await world.timing.advance(1_000);
  expect(world.count("delivered")).toBe(1);
  isUp = true;
  await world.timing.advance(31_000);
  expect(worker.health()).toMatchObject({ status: "healthy", wakeUp: "connected" });
  expect(logger.lines).toEqual([lost, back]);
  await world.timing.during(worker.stop());
});

test("a connection that comes and goes is logged per change, and its return looks at once", async () => {
  let listener: WakeUpListener | undefined;
  const world = worldWith(async (given) => {
    listener = given;
    return { connected: true, close: async () => {} };
  });
  const logger = new RecordingLogger();
  const worker = startWorker(world, { logger, pollIntervalMs: 60_000 });
  await world.timing.advance(1_000);
  for (let n = 0; n < 3; n++) listener?.onConnectionChange?.(false, new Error("reset"));
  expect(worker.health()).toMatchObject({ status: "degraded", wakeUp: "disconnected" });
  await world.enqueue(1);
  listener?.onConnectionChange?.(true);
  await world.timing.settle();
  expect(world.count("delivered")).toBe(1);
  expect(worker.health()).toMatchObject({ status: "healthy", wakeUp: "connected" });
  expect(logger.lines).toEqual([lost, back]);
  await world.timing.during(worker.stop());
});

test("a stop closes the subscription once, and what it says afterwards is ignored", async () => {
  let listener: WakeUpListener | undefined;
  let closed = 0;
  const world = worldWith(async (given) => {
    listener = given;
    return {
      connected: true,
      close: async () => {
        closed += 1;
      },
    };
  });
  const logger = new RecordingLogger();
  const worker = startWorker(world, { logger });
  await world.timing.advance(1_000);
  await world.timing.during(worker.stop());
  expect(closed).toBe(1);
  const before = world.scripted.calls.claim;
  listener?.onWakeUp();
  listener?.onConnectionChange?.(false);
  await world.timing.advance(5_000);
  expect(world.scripted.calls.claim).toBe(before);
  expect(logger.lines).toEqual([]);
});

test("a subscription that is made only after the stop is closed as well", async () => {
  let arrive: ((subscription: unknown) => void) | undefined;
  let closed = 0;
  const world = worldWith(
    () =>
      new Promise((resolve) => {
        arrive = resolve;
      }),
  );
  const worker = startWorker(world);
  await world.timing.advance(1_000);
  await world.timing.during(worker.stop({ timeoutMs: 0 }));
  arrive?.({
    connected: true,
    close: async () => {
      closed += 1;
    },
  });
  await world.timing.settle();
  expect(closed).toBe(1);
});

test("wakeUp: false does not subscribe", async () => {
  const world = worldWith(() => {
    throw new Error("must not be called");
  });
  const worker = startWorker(world, { wakeUp: false });
  await world.timing.advance(1_000);
  expect(worker.health()).toMatchObject({ status: "healthy", wakeUp: "none" });
  await world.timing.during(worker.stop());
});
