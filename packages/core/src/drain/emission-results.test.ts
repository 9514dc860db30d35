import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { NonRetryableEmissionError } from "../errors/non-retryable-emission-error.js";
import { OutboxError } from "../errors/outbox-error.js";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { drainWithTiming } from "./drain.js";

/** The entry after one emission that ends like this. */
async function entryAfter(emit: () => unknown) {
  const world = new DrainWorld();
  await world.enqueue(1);
  const options = { store: world.store, emitter: emit as never, maxCount: 1 };
  const report = await world.timing.during(drainWithTiming(options, world.timing));
  return { ...world.entry("e1"), report, nowMs: world.timing.storeNow() };
}

const error = { code: "http.503", message: "unavailable", isRetryable: true };

test.each([
  ["nothing", undefined],
  ["null", null],
  ["delivered", { status: "delivered" }],
])("returning %s is delivered", async (_, returned) => {
  expect(await entryAfter(async () => returned)).toMatchObject({ status: "delivered" });
  expect(await entryAfter(() => returned)).toMatchObject({ status: "delivered" });
});

test("delivered keeps the provider's id, and not what is no text", async () => {
  const given = (providerMessageId: unknown) =>
    entryAfter(async () => ({ status: "delivered", providerMessageId }));
  expect(await given("m-1")).toMatchObject({ providerMessageId: "m-1" });
  expect(await given(17)).toMatchObject({ status: "delivered", providerMessageId: null });
});

test("deferred counts nothing and comes back after retryAfterMs, or a minute", async () => {
  const named = await entryAfter(async () => ({ status: "deferred", retryAfterMs: 5_000, error }));
  expect(named).toMatchObject({ status: "deferred", retryCount: 0 });
  expect(named.failures).toMatchObject([{ code: "http.503" }]);
  expect(dueInMs(named)).toBe(5_000);
  const unnamed = await entryAfter(async () => ({ status: "deferred" }));
  expect(unnamed).toMatchObject({ status: "deferred", retryCount: 0, failures: [] });
  expect(dueInMs(unnamed)).toBe(60_000);
});

test("a retryable failure counts one and comes back after its retryAfterMs", async () => {
  const entry = await entryAfter(async () => ({
    status: "retryable-failure",
    error,
    retryAfterMs: 9_000,
  }));
  expect(entry).toMatchObject({ status: "retryable-failure", retryCount: 1 });
  expect(entry.failures).toMatchObject([{ code: "http.503", message: "unavailable" }]);
  expect(dueInMs(entry)).toBe(9_000);
});

test("failed is parked, even if its error says that it is retryable", async () => {
  const entry = await entryAfter(async () => ({ status: "failed", error }));
  expect(entry).toMatchObject({ status: "failed", retryCount: 1 });
});

test("dead-lettered is terminal, with its reason or the error's code", async () => {
  const result = { status: "dead-lettered", error };
  expect(await entryAfter(async () => result)).toMatchObject({
    status: "dead-lettered",
    deadLetterReason: "http.503",
  });
  expect(await entryAfter(async () => ({ ...result, reason: "gone" }))).toMatchObject({
    deadLetterReason: "gone",
  });
});

test("pending is given back with a poll interval's delay, and counts nothing", async () => {
  const entry = await entryAfter(async () => ({ status: "pending" }));
  expect(entry).toMatchObject({ status: "pending", retryCount: 0, failures: [] });
  expect((entry.availableAt?.getTime() ?? 0) - entry.nowMs).toBe(1_000);
});

test.each<[string, unknown]>([
  ["a string", "ok"],
  ["zero", 0],
  ["true", true],
  ["an HTTP response", { status: 500, ok: false }],
  ["an unknown status", { status: "done" }],
  ["an array", ["delivered"]],
  ["a function", () => {}],
  ["a bigint", 1n],
  ["a symbol", Symbol("s")],
  ["an object without prototype", Object.create(null)],
  [
    "a status that throws",
    {
      get status() {
        throw new Error("no");
      },
    },
  ],
  [
    "a proxy that throws",
    new Proxy(
      {},
      {
        get(_, key) {
          if (key === "then") return undefined;
          throw new Error("no");
        },
      },
    ),
  ],
])("%s is no result: a retryable failure, not a guess", async (_, returned) => {
  for (const emit of [async () => returned, () => returned]) {
    const entry = await entryAfter(emit);
    expect(entry).toMatchObject({ status: "retryable-failure", retryCount: 1 });
    expect(entry.failures).toMatchObject([{ code: "emission.invalid_result" }]);
  }
});

test.each<[string, unknown]>([
  ["no error", { status: "retryable-failure" }],
  ["a text as error", { status: "failed", error: "text" }],
  ["numbers as texts", { status: "failed", error: { code: 5, message: 6 } }],
  ["no error", { status: "dead-lettered", reason: 7 }],
])("%s beside a good status is made good", async (_, returned) => {
  const entry = await entryAfter(async () => returned);
  expect(entry.status).toBe((returned as { status: string }).status);
  expect(entry.failures).toMatchObject([
    { code: "emission.failed", message: "(the emitter gave no error message)" },
  ]);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, "5", null, new Date()])(
  "a retryAfterMs of %s is not believed",
  async (retryAfterMs) => {
    const entry = await entryAfter(async () => ({ status: "deferred", retryAfterMs }));
    expect(dueInMs(entry)).toBe(60_000);
  },
);

const unprintable = {
  toString() {
    throw new Error("no");
  },
};

class StrangeError extends Error {
  override get message(): string {
    throw new Error("no");
  }
}

test.each<[string, unknown, string]>([
  ["an error", new TypeError("bad"), "TypeError: bad"],
  [
    "an error with a cause",
    new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }),
    "TypeError: fetch failed (cause: ECONNREFUSED)",
  ],
  ["a string", "text", "thrown: text"],
  ["nothing", undefined, "thrown: undefined"],
  ["null", null, "thrown: null"],
  ["a symbol", Symbol("s"), "thrown: Symbol(s)"],
  ["an object that cannot be shown", unprintable, "thrown: something that cannot be shown"],
  ["an object without prototype", Object.create(null), "thrown: something that cannot be shown"],
  ["an error whose message throws", new StrangeError(), "thrown: something that cannot be shown"],
  [
    "a proxy that throws",
    new Proxy(
      {},
      {
        has() {
          throw new Error("no");
        },
      },
    ),
    "thrown: something that cannot be shown",
  ],
  ["an error of another realm", runInNewContext("new Error('far')"), "thrown: Error: far"],
])("throwing %s is a retryable failure", async (_, thrown, message) => {
  const throwing = () => {
    throw thrown;
  };
  for (const emit of [throwing, async () => throwing()]) {
    const entry = await entryAfter(emit);
    expect(entry).toMatchObject({ status: "retryable-failure", retryCount: 1 });
    expect(entry.failures).toMatchObject([{ code: "emission.exception", message }]);
  }
});

test("texts that no store takes are replaced visibly and bounded", async () => {
  const entry = await entryAfter(() => {
    throw new Error(`a\u0000b\ud800c${"x".repeat(10_000)}`);
  });
  expect(entry.failures[0]?.message).toMatch(/^Error: a\u2400b\ufffdcx+ … \(\d+ characters\)$/);
  expect(entry.failures[0]?.message.length).toBeLessThanOrEqual(2_000);
});

test("an OutboxError keeps its code", async () => {
  const entry = await entryAfter(() => {
    throw new OutboxError("outbox.http_timeout", "late");
  });
  expect(entry.failures).toMatchObject([{ code: "outbox.http_timeout" }]);
});

test("NonRetryableEmissionError parks, also one of another copy of this package", async () => {
  const own = new NonRetryableEmissionError("bad request", { code: "http.400" });
  expect(await entryAfter(() => Promise.reject(own))).toMatchObject({
    status: "failed",
    retryCount: 1,
    failures: [{ code: "http.400", message: "bad request" }],
  });
  const foreign = Object.assign(new Error("bad request"), { code: 400 });
  for (const marker of ["@outbox/error", "@outbox/error/non-retryable-emission"]) {
    Object.defineProperty(foreign, Symbol.for(marker), { value: true });
  }
  // A code that is no text must not make the entry unfinalizable.
  const entry = await entryAfter(() => Promise.reject(foreign));
  expect(entry).toMatchObject({ status: "failed", failures: [{ message: "bad request" }] });
  expect(entry.report).toMatchObject({ stale: 0 });
});

test("a thenable is awaited; calling its continuation twice counts once", async () => {
  const twice = {
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
    then(resolve: (value: unknown) => void, reject: (reason: unknown) => void) {
      resolve({ status: "delivered" });
      resolve({ status: "failed", error });
      reject(new Error("no"));
      throw new Error("no");
    },
  };
  const entry = await entryAfter(() => twice);
  expect(entry).toMatchObject({ status: "delivered", retryCount: 0 });
  expect(entry.report).toMatchObject({ delivered: 1, stale: 0 });
});

test("a then that cannot be read is an exception", async () => {
  const entry = await entryAfter(() => ({
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
    get then() {
      throw new Error("no then");
    },
  }));
  expect(entry.failures).toMatchObject([{ code: "emission.exception" }]);
});

function dueInMs(entry: { readonly nextRetryAt: Date | null; readonly nowMs: number }): number {
  return (entry.nextRetryAt?.getTime() ?? 0) - entry.nowMs;
}
