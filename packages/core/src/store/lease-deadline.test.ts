import { describe, expect, it } from "vitest";
import { testClaim } from "../entry/test-entry.js";
import type { Timing } from "../timing/timing.js";
import { leaseDeadline, readClocks, remainingLeaseMs } from "./lease-deadline.js";

const hours = 3_600_000;

/** Clocks at which a claim of a minute was sent, moved since. */
function clocks(monotonicMs: number, wallMs: number): Timing {
  return {
    monotonic: () => 5_000 + monotonicMs,
    wall: () => Date.UTC(2026, 0) + wallMs,
    sleep: async () => undefined,
  };
}
const claim = { ...testClaim(), deadline: leaseDeadline(readClocks(clocks(0, 0)), 60_000) };

describe("remainingLeaseMs", () => {
  it.each([
    ["nothing happened", 0, 0, 60_000],
    ["ten seconds passed", 10_000, 10_000, 50_000],
    ["it is over", 61_000, 61_000, -1_000],
    ["the machine was suspended for six hours", 1_000, 6 * hours, 60_000 - 6 * hours],
    ["the wall clock stepped back six hours", 10_000, -6 * hours, 50_000],
    ["the wall clock stepped forward six hours", 10_000, 6 * hours, 60_000 - 6 * hours],
    ["the wall clock went slowly", 59_000, 58_000, 1_000],
  ])("trusts the more pessimistic clock when %s", (_, monotonicMs, wallMs, remaining) => {
    expect(remainingLeaseMs(claim, clocks(monotonicMs, wallMs))).toBe(remaining);
  });

  it("uses the clocks of this process unless told otherwise", () => {
    const deadline = { monotonicMs: performance.now() + 60_000, wallMs: Date.now() + 60_000 };
    const remaining = remainingLeaseMs({ ...claim, deadline });
    expect(remaining).toBeGreaterThan(50_000);
    expect(remaining).toBeLessThanOrEqual(60_000);
  });
});
