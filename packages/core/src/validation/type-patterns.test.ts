import { describe, expect, it } from "vitest";
import { matchesTypeFilter, parseTypePatterns } from "./type-patterns.js";

const matches = (patterns: readonly string[], type: string) =>
  matchesTypeFilter(parseTypePatterns("types", patterns), type);

describe("type patterns", () => {
  it.each([
    [["order.placed"], "order.placed", true],
    [["order.placed"], "order.placed.late", false],
    [["order.placed"], "Order.placed", false],
    [["order.*"], "order.placed", true],
    [["order.*"], "order.placed.late", true],
    [["order.*"], "order", false],
    [["order.*"], "orders.placed", false],
    [["a", "b.*"], "b.c", true],
    [["a", "b.*"], "c", false],
    [["*"], "anything", true],
    [["a", "*"], "anything", true],
  ])("%o and %s: %s", (patterns, type, expected) => {
    expect(matches(patterns, type)).toBe(expected);
  });

  it("are all passed where there is no filter", () => {
    expect(matchesTypeFilter(null, "anything")).toBe(true);
    expect(parseTypePatterns("types", ["*"])).toBeNull();
  });
});
