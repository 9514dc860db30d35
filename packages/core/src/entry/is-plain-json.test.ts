import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPlainJson } from "./is-plain-json.js";

describe("isPlainJson", () => {
  it("says yes only where nothing is lost", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
      withBoxedValues: true,
      withNullPrototype: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        // -0 becomes 0 as everywhere in JSON.
        fc.pre(isPlainJson(value) && !fc.stringify(value).includes("-0"));
        expect(JSON.parse(JSON.stringify(value))).toEqual(value);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ["plain data", { a: [1, "x", null, { b: true }], c: undefined }, true],
    ["no prototype", Object.create(null), true],
    ["an instance", new (class {})(), false],
    ["a Date", { at: new Date(0) }, false],
    ["a toJSON", { toJSON: () => 1 }, false],
    ["an inherited toJSON", [Object.create({ toJSON: () => 1 })], false],
    ["a toJSON of an array", Object.assign([], { toJSON: () => 1 }), false],
    ["undefined in an array", [undefined], false],
    ["a hole", new Array(1), false],
    ["undefined", undefined, false],
    ["NaN", [Number.NaN], false],
  ])("%s: %o, %s", (_, value, expected) => {
    expect(isPlainJson(value)).toBe(expected);
  });

  it("does not follow a cycle", () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(isPlainJson(cyclic)).toBe(false);
  });
});
