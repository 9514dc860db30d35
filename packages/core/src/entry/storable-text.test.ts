import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxTextLength, storableText } from "./storable-text.js";

const illFormed = /\p{Surrogate}/u;

describe("storableText", () => {
  it("leaves an ordinary text alone", () => {
    expect(storableText("503 Service Unavailable – 😀\n\ttwice")).toBe(
      "503 Service Unavailable – 😀\n\ttwice",
    );
  });

  it("replaces visibly what a store would refuse", () => {
    expect(storableText("a\u0000b\ud83dc\udc00")).toBe("a␀b�c�");
  });

  it("says how much was cut off, and never cuts a character in half", () => {
    for (const shift of ["", "x"]) {
      const text = storableText(shift + "😀".repeat(2_000));
      expect(text).not.toMatch(illFormed);
      expect(text.length).toBeLessThanOrEqual(maxTextLength);
      expect(text).toMatch(/😀 … \(400[01] characters\)$/u);
    }
    expect(storableText("x".repeat(maxTextLength))).toBe("x".repeat(maxTextLength));
  });

  it("is bounded, well-formed and free of U+0000 for any text", () => {
    const anyText = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });
    fc.assert(
      fc.property(anyText, fc.integer({ min: 50, max: 300 }), (text, maxLength) => {
        const stored = storableText(text.repeat(20), maxLength);
        expect(stored.length).toBeLessThanOrEqual(maxLength);
        expect(stored).not.toMatch(illFormed);
        expect(stored).not.toContain("\u0000");
        expect(storableText(stored, maxLength)).toBe(stored);
      }),
    );
  });

  it.each([
    ["connect postgres://app:s3cret@db:5432/x failed", "connect postgres://***@db:5432/x failed"],
    ["postgres://app:p@ss@db/x", "postgres://***@db/x"],
    ["https://user@host/a and amqp://u:p@q", "https://***@host/a and amqp://***@q"],
    ["see https://host/users/me@example.com", "see https://host/users/me@example.com"],
  ])("masks credentials: %s", (text, masked) => {
    expect(storableText(text)).toBe(masked);
  });

  it.each<[string, unknown, string]>([
    ["an error", new Error("broken"), "broken"],
    ["nothing", undefined, "undefined"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["an object", { toString: () => "shown" }, "shown"],
    ["an object without prototype", Object.create(null), "something that cannot be shown"],
    [
      "one whose toString throws",
      {
        toString: () => {
          throw 1;
        },
      },
      "something that cannot be shown",
    ],
    [
      "an error whose message throws",
      Object.defineProperty(new Error(), "message", {
        get() {
          throw 1;
        },
      }),
      "something that cannot be shown",
    ],
  ])("takes anything: %s", (_, value, text) => {
    expect(storableText(value)).toBe(text);
  });

  it("takes a hundred thousand of anything in its stride", () => {
    const startedAt = performance.now();
    storableText("://".repeat(100_000));
    storableText("\u0000\ud800".repeat(100_000));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
