import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { OutboxWorkerLoop } from "./outbox-worker-loop.js";

test("a rate limit is kept over time, without retries or hot claims", async () => {
  const world = new DrainWorld();
  await world.enqueue(300);
  const { store, emitter, timing } = world;
  const rateLimits = { default: { perSecond: 10, burst: 5 } };
  const worker = new OutboxWorkerLoop({ store, emitter, rateLimits }, timing);
  worker.start();
  await timing.advance(10_000);
  expect(emitter.calls.length).toBeGreaterThanOrEqual(95);
  expect(emitter.calls.length).toBeLessThanOrEqual(106);
  await timing.advance(22_000);
  expect(world.count("delivered")).toBe(300);
  expect(Object.values(emitter.timesEmitted).every((times) => times === 1)).toBe(true);
  expect(world.scripted.calls.claim).toBeLessThan(700);
  await timing.during(worker.stop());
});
