import { expect, test } from "vitest";
import { withHostClock } from "./with-host-clock.js";

test("the host's clock is off while it lasts, and right again after it", async () => {
  const before = new Date();
  await withHostClock(3_600_000, async () => {
    expect(Date.now() - before.getTime()).toBeGreaterThan(3_599_000);
    const now = new Date();
    expect(now.getTime() - before.getTime()).toBeGreaterThan(3_599_000);
    expect(new Date(5).getTime()).toBe(5);
    expect(new Date()).toBeInstanceOf(Date);
    expect(before).toBeInstanceOf(Date);
    expect(Date.UTC(2024, 0, 1)).toBe(1_704_067_200_000);
  });
  expect(Date.now() - before.getTime()).toBeLessThan(60_000);
  await expect(withHostClock(3_600_000, () => Promise.reject(new Error("no")))).rejects.toThrow(
    "no",
  );
  expect(Date.now() - before.getTime()).toBeLessThan(60_000);
});
