import { expect, it } from "vitest";
import { RateLimiter } from "./rate-limit.js";

it("lets a burst go, then as many as the rate allows", () => {
  const limiter = new RateLimiter({ perSecond: 10, burst: 2 }, 0);
  expect([limiter.take(0), limiter.take(0)]).toEqual([0, 0]);
  expect(limiter.take(0)).toBeCloseTo(100);
  expect(limiter.take(50)).toBeCloseTo(50);
  expect(limiter.take(100)).toBe(0);
});

it("does not save up more than a burst", () => {
  const limiter = new RateLimiter({ perSecond: 10, burst: 2 }, 0);
  const taken = Array.from({ length: 5 }, () => limiter.take(60_000));
  expect(taken.filter((waitMs) => waitMs === 0)).toHaveLength(2);
});

it("allows less than one a second", () => {
  const limiter = new RateLimiter({ perSecond: 0.1 }, 0);
  expect(limiter.take(0)).toBe(0);
  expect(limiter.take(0)).toBeCloseTo(10_000);
});
