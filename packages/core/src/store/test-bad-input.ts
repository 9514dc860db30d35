import { beforeEach, describe, expect, it, type Mock, vi } from "vitest";
import type { OutboxClaim } from "../contract/outbox-claim.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import { createMemoryDriver, memoryCapabilities } from "../memory/memory-driver.js";
import { MemoryOutbox } from "../memory/memory-outbox.js";
import { defineStore } from "./define-store.js";

/** Noted for every call that reached the driver. */
export const driverCalled: Mock<(method: unknown) => void> = vi.fn();

/** The same, with every call of a method below it noted. */
function spied<Value extends object>(value: Value): Value {
  return new Proxy(value, {
    get(target, key) {
      const member = Reflect.get(target, key);
      if (typeof member === "function" && key !== "classifyError") {
        return (...given: unknown[]) => {
          driverCalled(key);
          return Reflect.apply(member, target, given);
        };
      }
      return typeof member === "object" && member !== null && key !== "capabilities"
        ? spied(member)
        : member;
    },
  });
}

const outbox = new MemoryOutbox();
const schema = {
  migrate: async () => ({ from: 0, to: 1 }),
  migrationSql: () => "",
  checkSchema: async () => ({ ok: true, version: 1, expectedVersion: 1, problems: [] }),
  diagnose: async () => [],
};

/** A driver with every facet. */
export const wholeDriver = { ...createMemoryDriver(outbox), schema };

/** Everything that a store can have, loosely typed: bad input is bad for the compiler too. */
export type LooseStore = Record<string, (...given: unknown[]) => unknown>;

export const looseStore = (capabilities: object = {}) =>
  defineStore(
    spied({ ...wholeDriver, capabilities: { ...memoryCapabilities, ...capabilities } }),
  ) as unknown as LooseStore;

/** What there is at each call: a live claim, and a parked entry. */
export const there = {} as { claim: OutboxClaim; parked: OutboxEntry };

export const error = { code: "x", message: "y", isRetryable: true };

/** To be called once in each test file: a fresh outbox for each test. */
export function beforeEachBadCall(): void {
  beforeEach(async () => {
    outbox.rows.clear();
    const direct = defineStore(wholeDriver);
    const input = () => ({ type: "order.placed", envelopeId: crypto.randomUUID() });
    await direct.enqueue([input(), input(), input()]);
    const { claims } = await direct.claim({ workerId: "w", maxCount: 2 });
    const [claim, other] = claims;
    if (claim === undefined || other === undefined) throw new Error("nothing was claimed");
    const { entry } = await direct.markClaimFailed(other, { ...error, isRetryable: false });
    if (entry === null) throw new Error("nothing was parked");
    Object.assign(there, { claim, parked: entry });
    driverCalled.mockReset();
  });
}

/** A call, and the argument that must be named. */
export type BadCall = [call: string, argument: string, given: () => readonly unknown[]];

const tooLongMs = 11 * 365 * 86_400_000;
const long = "x".repeat(256);
export const wrongIds: readonly unknown[] = [
  undefined,
  null,
  5,
  {},
  "",
  long,
  "a\u0000b",
  "a\ud800",
];
export const wrongDurations: readonly unknown[] = [
  null,
  "5",
  -1,
  Number.NaN,
  Infinity,
  tooLongMs,
  {},
];
export const wrongDates: readonly unknown[] = [
  null,
  5,
  "2026-01-01",
  new Date(Number.NaN),
  new Date(-1),
];
export const wrongObjects: readonly unknown[] = [null, 5, "x", []];

/** The same call with each of the values. */
export const each = (
  values: readonly unknown[],
  call: string,
  argument: string,
  given: (value: unknown) => readonly unknown[],
): BadCall[] => values.map((value) => [call, argument, () => given(value)]);

/** What the call is rejected with, or `"accepted"`. A synchronous throw fails the test. */
export async function refusalOf(store: LooseStore, [call, , given]: BadCall): Promise<unknown> {
  const method = store[call];
  if (method === undefined) throw new Error(`there is no ${call}`);
  const result = method(...given());
  expect(result).toBeInstanceOf(Promise);
  return (result as Promise<unknown>).then(
    () => "accepted",
    (refusal: unknown) => refusal,
  );
}

/** Each call is rejected with the argument's name; nothing is sent or written. */
export function describeBadInput(title: string, calls: readonly BadCall[]): void {
  const store = looseStore();
  describe(`bad input: ${title}`, () => {
    it.each(calls.map((one, index) => [index, one[0], one[1], one] as const))(
      "%i: %s names %s, and nothing is sent or written",
      async (_index, _call, argument, badCall) => {
        const rows = structuredClone(outbox.rows);
        expect(await refusalOf(store, badCall)).toMatchObject({
          code: "outbox.invalid_argument",
          argument,
          message: expect.stringContaining(argument),
        });
        expect(driverCalled).not.toHaveBeenCalled();
        expect(outbox.rows).toEqual(rows);
      },
    );
  });
}
