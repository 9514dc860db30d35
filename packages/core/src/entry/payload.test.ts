import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { decodePayload, encodePayload } from "./payload.js";

const encode = (payload: unknown) => encodePayload(payload, "input.payload");
const roundTrip = (payload: unknown) => decodePayload(encode(payload));
const jsonOf = (payload: unknown) => {
  const encoded = encode(payload);
  return encoded.format === "json" ? encoded.text : "(bytes)";
};

function refusalOf(payload: unknown): InvalidArgumentError {
  try {
    encode(payload);
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error;
    throw error;
  }
  throw new Error("was accepted");
}

describe("a JSON payload", () => {
  it("comes back as it went in, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const withoutMinusZero = JSON.parse(JSON.stringify(value));
        expect(roundTrip(value)).toStrictEqual(withoutMinusZero);
      }),
    );
  });

  it("keeps the order of keys, U+0000, lone surrogates and __proto__", () => {
    const text = '{"z":1,"a":"\\u0000","\\u0000":"\\ud800","__proto__":{"polluted":true},"10":2}';
    const value = JSON.parse(text);
    expect(JSON.stringify(roundTrip(value))).toBe(JSON.stringify(value));
    expect(Object.keys(roundTrip({ z: 1, a: 2, m: 3 }) as object)).toEqual(["z", "a", "m"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([
    ["nothing", undefined, "null"],
    ["null", null, "null"],
    ["-0", -0, "0"],
    ["an undefined member", { a: undefined, b: 1 }, '{"b":1}'],
    ["a Date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a toJSON", { toJSON: () => ({ ok: true }) }, '{"ok":true}'],
    ["a member whose toJSON returns nothing", { a: { toJSON: () => undefined } }, "{}"],
    ["boxed primitives", [Object(1), Object("a"), Object(false)], '[1,"a",false]'],
    [
      "an instance of a class",
      new (class Order {
        id = "o-1";
      })(),
      '{"id":"o-1"}',
    ],
    ["an object without prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  ])("%s is stored as JSON has it", (_, payload, text) => {
    expect(jsonOf(payload)).toBe(text);
  });

  it("may name the same object twice", () => {
    const shared = { a: 1 };
    expect(roundTrip({ left: shared, right: [shared] })).toEqual({ left: shared, right: [shared] });
  });

  it("counts its bytes in UTF-8", () => {
    expect(encode("€").byteLength).toBe(5);
    expect(encode("x".repeat(5_000_000)).byteLength).toBe(5_000_002);
  });

  it("is read once and stored as it was then", () => {
    const payload = { list: [1] };
    const encoded = encode(payload);
    payload.list.push(2);
    expect(encoded).toMatchObject({ text: '{"list":[1]}' });
  });
});

describe("a payload that JSON cannot carry", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = { cyclic };
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);

  it.each<[string, unknown, string, RegExp]>([
    ["NaN", { a: [0, Number.NaN] }, "input.payload.a[1]", /NaN.*store null or text/],
    ["Infinity", Number.POSITIVE_INFINITY, "input.payload", /Infinity/],
    ["a boxed NaN", { a: Object(Number.NaN) }, "input.payload.a", /NaN/],
    ["NaN from a toJSON", { a: { toJSON: () => Number.NaN } }, "input.payload.a", /NaN/],
    ["a BigInt", { total: 1n }, "input.payload.total", /BigInt.*text/],
    ["a BigInt from a toJSON", { toJSON: () => 1n }, "input.payload", /BigInt/],
    ["a boxed BigInt", Object(1n), "input.payload", /BigInt/],
    ["a function", { a: () => 1 }, "input.payload.a", /function.*leave it out/],
    ["a symbol", [Symbol("s")], "input.payload[0]", /symbol/],
    ["a boxed symbol", Object(Symbol("s")), "input.payload", /Symbol/],
    ["undefined in an array", [1, undefined], "input.payload[1]", /store null/],
    ["a hole in an array", new Array(1), "input.payload[0]", /store null/],
    ["an invalid Date", { at: new Date(Number.NaN) }, "input.payload.at", /invalid Date/],
    ["a Map", { a: new Map([[1, 2]]) }, "input.payload.a", /a Map.*convert/],
    ["a Set", new Set([1]), "input.payload", /a Set.*convert/],
    ["a Map from a toJSON", { a: { toJSON: () => new Map() } }, "input.payload.a", /Map/],
    ["an Error", { cause: new Error("x") }, "input.payload.cause", /Error.*convert/],
    ["a promise", { order: Promise.resolve(1) }, "input.payload.order", /Promise/],
    ["a regular expression", { a: /x/ }, "input.payload.a", /RegExp/],
    ["nested bytes", { a: new Uint8Array(1) }, "input.payload.a", /Uint8Array/],
    ["an ArrayBuffer", new ArrayBuffer(1), "input.payload", /ArrayBuffer/],
    ["another view", new Uint16Array(1), "input.payload", /Uint16Array/],
    ["a cycle", cyclic, "input.payload", /circular.*pass plain data/is],
    ["deep nesting", deep, "input.payload", /nested too deeply/],
    ["a toJSON that returns nothing", { toJSON: () => undefined }, "input.payload", /toJSON\(\)/],
    [
      "a toJSON that throws",
      {
        toJSON: () => {
          throw new Error("no");
        },
      },
      "input.payload",
      /no\)/,
    ],
    [
      "a getter that throws what cannot be shown",
      {
        get a() {
          throw Object.create(null);
        },
      },
      "input.payload",
      /cannot be shown/,
    ],
  ])("is refused with its place and what to do: %s", (_, payload, argument, message) => {
    const refusal = refusalOf(payload);
    expect(refusal.argument).toBe(argument);
    expect(refusal.message).toMatch(message);
    expect(refusal.code).toBe("outbox.invalid_argument");
  });

  it("is named by the place where it is lost, though it was met before", () => {
    let calls = 0;
    const shared = { inner: { toJSON: () => (++calls === 1 ? 1 : Number.NaN) } };
    const payload = { ok: shared, bad: [{ shared }] };
    expect(refusalOf(payload).argument).toBe("input.payload.bad[0].shared.inner");
  });
});

describe("a payload of bytes", () => {
  it("comes back as it went in", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(roundTrip(bytes)).toEqual(bytes);
        expect(roundTrip(Buffer.from(bytes))).toEqual(bytes);
      }),
    );
  });

  it("is copied: the caller may reuse its buffer", () => {
    const buffer = Buffer.from("before");
    const encoded = encode(buffer);
    buffer.write("after!");
    expect(decodePayload(encoded)).toEqual(new Uint8Array(Buffer.from("before")));
    expect(encoded.byteLength).toBe(6);
  });
});
