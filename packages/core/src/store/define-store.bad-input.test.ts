import { describe, expect, it } from "vitest";
import type { StoreDriver } from "../contract/store-driver.js";
import { OutboxError } from "../errors/outbox-error.js";
import { createMemoryStore } from "../memory/create-memory-store.js";
import { defineStore } from "./define-store.js";
import {
  type BadCall,
  beforeEachBadCall,
  driverCalled,
  looseStore,
  refusalOf,
  there,
  wholeDriver,
} from "./test-bad-input.js";

beforeEachBadCall();

it("the spy on the driver sees calls that are good", async () => {
  expect(await refusalOf(looseStore(), ["list", "", () => [{ all: true }]])).toBe("accepted");
  expect(await refusalOf(looseStore(), ["enqueue", "", () => [{ type: "a" }]])).toBe("accepted");
  expect(driverCalled.mock.calls).toEqual([["list"], ["insert"]]);
});

describe("what a store cannot do is refused, and nothing is sent", () => {
  const pair = { workerId: "w" };
  it.each<[string, object, BadCall[0], readonly unknown[]]>([
    ["claim kinds", { claimKinds: "merged" }, "claimPending", [pair]],
    ["claim kinds", { claimKinds: "merged" }, "claimRetryReady", [pair]],
    ["types", { typeFilter: "none" }, "claim", [{ ...pair, types: ["a"] }]],
    ["suspects", { crashIsolation: false }, "claim", [{ ...pair, suspects: "only" }]],
    ["a claim id", { claimReplay: false }, "claim", [{ ...pair, claimId: "c" }]],
    ["an ordering key", { perKeyOrder: "none" }, "enqueue", [{ type: "a", orderingKey: "k" }]],
  ])("%s with %o", async (_, capabilities, call, given) => {
    const refusal = await refusalOf(looseStore(capabilities), [call, "", () => given]);
    expect(refusal).toMatchObject({ code: "outbox.unsupported" });
    expect((refusal as OutboxError).message).toMatch(/leave|use claim\(\)/);
    expect(driverCalled).not.toHaveBeenCalled();
  });

  it.each<[string, object, BadCall]>([
    [
      "a lease",
      { maxLeaseMs: 1_000 },
      ["claim", "request.leaseDurationMs", () => [{ ...pair, leaseDurationMs: 1_001 }]],
    ],
    [
      "a renewal",
      { maxLeaseMs: 1_000 },
      [
        "extendClaims",
        "options.leaseDurationMs",
        () => [[there.claim], { leaseDurationMs: 1_001 }],
      ],
    ],
    [
      "a claim",
      { maxClaimCount: 10 },
      ["claim", "request.maxCount", () => [{ ...pair, maxCount: 11 }]],
    ],
    [
      "a delay",
      { maxDelayMs: 900 },
      ["enqueue", "input.availableInMs", () => [{ type: "a", availableInMs: 901 }]],
    ],
  ])("%s beyond its limit", async (_, capabilities, badCall) => {
    expect(await refusalOf(looseStore(capabilities), badCall)).toMatchObject({
      code: "outbox.invalid_argument",
      argument: badCall[1],
    });
    expect(driverCalled).not.toHaveBeenCalled();
  });
});

describe("on a store with transactional enqueue", () => {
  const transactional = looseStore({ transactionalEnqueue: true });
  it.each<[string, readonly unknown[]]>([
    ["options", []],
    ["options.tx", [{}]],
    ["options.tx", [{ tx: undefined }]],
    ["options.tx", [{ tx: null }]],
    ["options.tx", [{ tx: "tx" }]],
    ["options.autonomous", [{ autonomous: false }]],
    ["options.autonomous", [{ tx: {}, autonomous: true }]],
  ])("%s must name the transaction: %o", async (argument, options) => {
    for (const input of [{ type: "a" }, [{ type: "a" }], []]) {
      const given = () => [input, ...options];
      expect(await refusalOf(transactional, ["enqueue", argument, given])).toMatchObject({
        argument,
      });
    }
    expect(driverCalled).not.toHaveBeenCalled();
  });
});

describe("what makes a store", () => {
  const refused = (make: () => unknown) => {
    try {
      make();
    } catch (refusal) {
      return refusal;
    }
    return "accepted";
  };

  it.each<[string, unknown, unknown]>([
    ["driver", undefined, {}],
    ["driver", null, {}],
    ["driver.name", { ...wholeDriver, name: "" }, {}],
    ["driver.contractVersion", { ...wholeDriver, contractVersion: 2 }, {}],
    ["driver.capabilities", { ...wholeDriver, capabilities: undefined }, {}],
    ["driver.extend", { ...wholeDriver, extend: undefined }, {}],
    ["options", wholeDriver, null],
    ["options", wholeDriver, "x"],
    ["options.source", wholeDriver, { source: "" }],
    ["options.source", wholeDriver, { source: 5 }],
    ["options.sorce", wholeDriver, { sorce: "/shop" }],
  ])("defineStore names %s", (argument, badDriver, options) => {
    expect(
      refused(() => defineStore(badDriver as StoreDriver<never>, options as object)),
    ).toMatchObject({ code: "outbox.invalid_argument", argument });
  });

  it.each<[string, unknown]>([
    ["options", null],
    ["options", 5],
    ["options.outbox", { outbox: {} }],
    ["options.allowInProduction", { allowInProduction: "yes" }],
    ["options.source", { source: "" }],
    ["options.misspelt", { misspelt: 1 }],
  ])("createMemoryStore names %s", (argument, options) => {
    expect(refused(() => createMemoryStore(options as object))).toMatchObject({
      code: "outbox.invalid_argument",
      argument,
    });
  });

  it("migrationSql refuses what it does not know", () => {
    for (const range of [null, 5, { form: 1 }]) {
      expect(refused(() => looseStore()["migrationSql"]?.(range))).toBeInstanceOf(OutboxError);
    }
    expect(driverCalled).not.toHaveBeenCalled();
  });

  it("remembers nothing of a refused value that is long", () => {
    const refusal = refused(() => createMemoryStore({ source: "secret".repeat(1_000) }));
    expect((refusal as Error).message).not.toContain("secret");
  });
});
