import { describe, expect, test } from "vitest";
import type { StoreCapabilities } from "../contract/store-capabilities.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { createMemoryStore } from "../memory/create-memory-store.js";
import { createWorker } from "../worker/create-worker.js";
import { drain } from "./drain.js";
import { resolveDrainOptions } from "./resolve-drain-options.js";

const store = createMemoryStore();
const emitter = async () => {};

function storeThat(changes: Partial<StoreCapabilities>) {
  return { ...store, capabilities: { ...store.capabilities, ...changes } };
}

const bad: Record<string, readonly unknown[]> = {
  store: [undefined, null, 1, [], {}, { claim: async () => {} }],
  emitter: [undefined, null, "emit", {}, { emit: "no" }, { emit: undefined }],
  workerId: ["", 5, null, "x".repeat(256), "a\u0000b"],
  useClaimLeases: [null, 0, "yes"],
  leaseDurationMs: [null, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, "60000", 31 * 86_400_000],
  leaseMarginMs: [null, -1, 60_000, 60_001, "1", Number.NaN],
  batchSize: [null, 0, -1, 1.5, 100_001, "10", Number.NaN],
  maxBatchBytes: [null, 0, 1.5, "1"],
  emitConcurrency: [null, 0, -1, 1.5, 100_001, Number.POSITIVE_INFINITY],
  emitTimeoutMs: [null, 0, -1, Number.NaN, "1", 1e12],
  types: [null, [], "order.*", [""], [5], ["a*b"], ["*.placed"]],
  maxRetryAttempts: [null, 0, -1, 1.5, Number.POSITIVE_INFINITY],
  deadLetterOnMaxRetryAttempts: [null, 1, "no"],
  deadLetterReasonCode: [null, "", 5],
  retryForMs: [null, 0, -1, Number.NaN, "1d"],
  retryDelayMs: [null, 0, -1, Number.NaN],
  maxRetryDelayMs: [null, -1, Number.NaN],
  retryDelay: [null, 5, {}],
  deferredDelayMs: [null, 0, -1],
  pollIntervalMs: [null, 0, -1, Number.NaN],
  maxUnfinalized: [null, 0, 1.5],
  observer: [null, {}, "console"],
  logger: [null, "console", {}, { debug() {}, info() {}, warn() {} }],
  batchsize: [5],
};

const badInDrain: Record<string, readonly unknown[]> = {
  maxMs: [null, 0, -1, Number.NaN, "1"],
  maxCount: [null, 0, 1.5, -1],
  signal: [null, {}, new AbortController()],
  stopTimeoutMs: [1_000],
};

const badInWorker: Record<string, readonly unknown[]> = {
  stopTimeoutMs: [null, -1, Number.NaN, "1"],
  unhealthyAfterMs: [null, 0, Number.NaN],
  wakeUp: [null, 1],
  maxCount: [5],
};

function cases(table: Record<string, readonly unknown[]>) {
  return Object.entries(table).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
}

function expectRefusal(error: unknown, name: string): void {
  expect(error).toBeInstanceOf(InvalidArgumentError);
  expect((error as Error).message).toMatch(new RegExp(`^options\\.${name}[. \\[]`));
}

describe.each([true, false])("with useClaimLeases: %s", (useClaimLeases) => {
  test.each(cases(bad))("%s: %o is refused by name", async (name, value) => {
    const options = { store, emitter, useClaimLeases, [name]: value } as never;
    expectRefusal(await drain(options).catch((error) => error), name);
    expect(() => createWorker(options)).toThrow(InvalidArgumentError);
  });
});

test.each(cases(badInDrain))("drain: %s: %o is refused by name", async (name, value) => {
  const options = { store, emitter, [name]: value } as never;
  expectRefusal(await drain(options).catch((error) => error), name);
});

test.each(cases(badInWorker))("worker: %s: %o is refused by name", (name, value) => {
  const create = () => createWorker({ store, emitter, [name]: value } as never);
  expect(create).toThrow(new RegExp(`^options\\.${name} `));
});

test.each([undefined, null, 5, []])("options %o are refused", async (options) => {
  await expect(drain(options as never)).rejects.toThrow(/^options /);
  expect(() => createWorker(options as never)).toThrow(/^options /);
});

test("a store without claims is refused, with how to opt out", async () => {
  const { findPending } = store;
  const done = drain({ store: { findPending } as never, emitter });
  await expect(done).rejects.toThrow(/useClaimLeases: false/);
});

test("a store without selection is refused on the compatibility path, with the way back", async () => {
  const { claim, completeClaims, capabilities } = store;
  const claims = { claim, completeClaims, capabilities } as never;
  const done = drain({ store: claims, emitter, useClaimLeases: false });
  await expect(done).rejects.toThrow(/leave useClaimLeases out/);
});

test("defaults stay within what the store can", () => {
  const limited = storeThat({ maxLeaseMs: 20_000, maxClaimCount: 10 });
  const resolved = resolveDrainOptions({ store: limited, emitter });
  expect(resolved).toMatchObject({ leaseDurationMs: 20_000, batchSize: 10, leaseMarginMs: 2_000 });
  expect(() => resolveDrainOptions({ store: limited, emitter, leaseDurationMs: 30_000 })).toThrow(
    /options\.leaseDurationMs/,
  );
});

test("the margin is a tenth of the lease, at least a second, and always less than the lease", () => {
  const marginOf = (leaseDurationMs: number) =>
    resolveDrainOptions({ store, emitter, leaseDurationMs }).leaseMarginMs;
  expect(marginOf(60_000)).toBe(6_000);
  expect(marginOf(5_000)).toBe(1_000);
  expect(marginOf(1_000)).toBe(500);
  expect(marginOf(1)).toBe(0);
});

test("types need a store that filters; the emitter's own are only a hint", () => {
  const unfiltered = storeThat({ typeFilter: "none" });
  const knowing = { types: ["order.*"], emit: emitter };
  expect(resolveDrainOptions({ store, emitter: knowing }).types).toEqual(["order.*"]);
  expect(resolveDrainOptions({ store: unfiltered, emitter: knowing }).types).toBeNull();
  expect(() => resolveDrainOptions({ store: unfiltered, emitter, types: ["order.*"] })).toThrow(
    /options\.types/,
  );
});

test("retryForMs is the default where counters are only upper bounds", () => {
  const counting = storeThat({ counters: "upper-bound" });
  expect(resolveDrainOptions({ store, emitter }).retryForMs).toBeNull();
  expect(resolveDrainOptions({ store: counting, emitter }).retryForMs).toBe(86_400_000);
});

test("worker ids differ", () => {
  const idOf = () => resolveDrainOptions({ store, emitter }).workerId;
  expect(idOf()).not.toBe(idOf());
  expect(idOf().length).toBeLessThanOrEqual(255);
});
