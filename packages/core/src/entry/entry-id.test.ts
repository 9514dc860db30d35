import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveEntryId, maxIdLength } from "./entry-id.js";

const id = fc.oneof(
  fc.string({
    unit: fc.constantFrom("a", "@", "%", "2", "4", "5", "0"),
    minLength: 1,
    maxLength: 8,
  }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: maxIdLength / 4 }),
  fc.constantFrom("default", "default@default", "%40", "%2540"),
);

describe("deriveEntryId", () => {
  it("is the envelope id for the default destination, else both", () => {
    expect(deriveEntryId("order-1", "default")).toBe("order-1");
    expect(deriveEntryId("order-1", "billing")).toBe("order-1@billing");
    expect(deriveEntryId("a@b%", "c@d")).toBe("a%40b%25@c%40d");
  });

  it("gives two pairs two ids", () => {
    fc.assert(
      fc.property(id, id, id, id, (envelope1, destination1, envelope2, destination2) => {
        fc.pre(envelope1 !== envelope2 || destination1 !== destination2);
        expect(deriveEntryId(envelope1, destination1)).not.toBe(
          deriveEntryId(envelope2, destination2),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it("is never longer than an id may be, and still tells pairs apart", () => {
    const long = "%".repeat(maxIdLength);
    const ids = [
      deriveEntryId(long, "default"),
      deriveEntryId(long, long),
      deriveEntryId(`${long.slice(1)}x`, "default"),
      deriveEntryId("x".repeat(maxIdLength), "a"),
      deriveEntryId("x".repeat(maxIdLength), "b"),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    for (const one of ids) expect(one).toMatch(/^sha256-[0-9a-f]{64}$/);
    expect(deriveEntryId("x".repeat(maxIdLength), "default")).toBe("x".repeat(maxIdLength));
  });
});
