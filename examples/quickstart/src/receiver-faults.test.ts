import { describe, expect, it } from "vitest";
import { chooseReaction } from "./receiver-faults.js";

const orderIds = Array.from({ length: 5_000 }, (_, index) => `order-${index}`);

describe("chooseReaction", () => {
  it("accepts every order in the end", () => {
    expect(new Set(orderIds.map((id) => chooseReaction(id, 3)))).toEqual(new Set(["accept"]));
  });

  it("refuses some and keeps silent on a few at first, the same ones each time", () => {
    const first = orderIds.map((id) => chooseReaction(id, 1));
    const share = (reaction: string) =>
      first.filter((one) => one === reaction).length / orderIds.length;
    expect(share("refuse")).toBeCloseTo(0.08, 1.5);
    expect(share("silence")).toBeCloseTo(0.01, 2);
    expect(orderIds.map((id) => chooseReaction(id, 1))).toEqual(first);
  });
});
