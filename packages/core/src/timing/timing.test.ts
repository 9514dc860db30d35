import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { ManualTiming } from "../testing-doubles/manual-timing.js";
import { backoffMs } from "./backoff-ms.js";
import { systemTiming } from "./timing.js";
import { WakeableSleep } from "./wakeable-sleep.js";

test("a sleep ends with its signal, and leaves neither timer nor listener", async () => {
  vi.useFakeTimers();
  try {
    const controller = new AbortController();
    const asleep = systemTiming.sleep(3_600_000, controller.signal);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort();
    await asleep;
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    await systemTiming.sleep(3_600_000, controller.signal);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("sleeping on the same signal many times leaves nothing on it", async () => {
  const { signal } = new AbortController();
  for (let round = 0; round < 20; round++) await systemTiming.sleep(1, signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("a sleep beyond Node's longest timeout does not end at once", async () => {
  vi.useFakeTimers();
  try {
    let isAwake = false;
    const longMs = 2 ** 31 + 86_400_000;
    const asleep = systemTiming.sleep(longMs).then(() => {
      isAwake = true;
    });
    await vi.advanceTimersByTimeAsync(2 ** 31);
    expect(isAwake).toBe(false);
    await vi.advanceTimersByTimeAsync(86_400_001);
    await asleep;
  } finally {
    vi.useRealTimers();
  }
});

test.each([0, -5, Number.NaN])("a sleep of %s ms is none", async (ms) => {
  await systemTiming.sleep(ms);
});

test("a backoff doubles up to its bound, half of it random", () => {
  for (let failures = 1; failures < 2_000; failures += failures < 20 ? 1 : 300) {
    const full = Math.min(10_000, 100 * 2 ** (failures - 1));
    const ms = backoffMs(failures, 100, 10_000);
    expect(ms).toBeGreaterThanOrEqual(full / 2);
    expect(ms).toBeLessThanOrEqual(full);
  }
});

test("a ring ends a wakeable sleep, and one while awake the next", async () => {
  const timing = new ManualTiming();
  const sleep = new WakeableSleep(timing);
  const asleep = sleep.sleep(60_000);
  sleep.ring();
  await asleep;
  sleep.ring();
  await sleep.sleep(60_000);
  expect(timing.monotonic()).toBe(1_000);
  sleep.ring();
  sleep.reset();
  await timing.during(sleep.sleep(60_000));
  expect(timing.monotonic()).toBe(61_000);
  expect(timing.sleeping).toBe(0);
});
