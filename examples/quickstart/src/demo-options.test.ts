import { expect, it } from "vitest";
import { parseDemoOptions } from "./demo-options.js";

it("has defaults", () => {
  expect(parseDemoOptions([])).toEqual({
    orders: 2_000,
    producers: 2,
    workers: 3,
    leaseDurationMs: 5_000,
  });
});

it("takes flags, also behind the separator that pnpm hands on", () => {
  expect(parseDemoOptions(["--", "--orders", "200", "--lease-ms=3000"])).toMatchObject({
    orders: 200,
    leaseDurationMs: 3_000,
  });
});

it.each([
  [["--orders", "many"], "--orders must be a whole number"],
  [["--workers", "1"], "--workers must be a whole number from 2"],
  [["--order", "5"], "--order"],
])("refuses %j", (args, message) => {
  expect(() => parseDemoOptions(args)).toThrow(message);
});
