import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ClaimCommand } from "../contract/store-driver.js";
import { testEntry } from "../entry/test-entry.js";
import { createMemoryDriver } from "../memory/memory-driver.js";
import { MemoryOutbox } from "../memory/memory-outbox.js";
import type { Timing } from "../timing/timing.js";
import { defineStoreWithTiming } from "./define-store.js";
import { remainingLeaseMs } from "./lease-deadline.js";
import { DriverFault, testDriver } from "./test-driver.js";

beforeEach(() => {
  vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
});

/** A store whose calls take as long as said, on clocks that only they move. */
function slowStore(overrides: Parameters<typeof testDriver>[0] = {}) {
  const clock = { ms: 1_000 };
  const timing: Timing = {
    monotonic: () => clock.ms,
    wall: () => 1_000_000 + clock.ms,
    sleep: async () => undefined,
  };
  // The store's clock is three days ahead.
  const outbox = new MemoryOutbox(() => 3 * 86_400_000 + clock.ms);
  const memory = createMemoryDriver(outbox);
  const driver = testDriver(
    {
      claim: async (command) => {
        clock.ms += 200;
        const batch = await memory.claim(command);
        clock.ms += 300;
        return batch;
      },
      extend: async (claims, leaseDurationMs) => {
        clock.ms += 200;
        const extensions = await memory.extend(claims, leaseDurationMs);
        clock.ms += 300;
        return extensions;
      },
      ...overrides,
    },
    outbox,
  );
  const store = defineStoreWithTiming(driver, {}, timing);
  const remaining = (claim: Parameters<typeof remainingLeaseMs>[0]) =>
    remainingLeaseMs(claim, timing);
  return { store, clock, timing, outbox, memory, remaining };
}

const request = { workerId: "worker-1", leaseDurationMs: 10_000 };

describe("the local deadline", () => {
  it("of a claim is reckoned from when it was sent, by the store's lease, whatever its clock says", async () => {
    const { store, remaining, clock } = slowStore();
    await store.enqueue({ type: "a" });
    const [claim] = (await store.claim(request)).claims;
    // 500 ms passed since the claim was sent.
    expect(claim && remaining(claim)).toBe(9_500);
    expect(claim?.deadline).toEqual({ monotonicMs: 11_000, wallMs: 1_011_000 });
    clock.ms += 9_500;
    expect(claim && remaining(claim)).toBe(0);
  });

  it("of a claim that was repeated is reckoned from the repetition", async () => {
    const { store, remaining, memory, clock } = slowStore({
      claim: async (command: ClaimCommand) => {
        clock.ms += 4_000;
        if (clock.ms < 6_000) throw new DriverFault("transient");
        return memory.claim(command);
      },
    });
    await store.enqueue({ type: "a" });
    const [claim] = (await store.claim(request)).claims;
    expect(claim && remaining(claim)).toBe(6_000);
  });

  it("of a claim that was found again is what the store has left of it", async () => {
    const { store, remaining, clock } = slowStore();
    await store.enqueue([{ type: "a" }, { type: "b" }]);
    await store.claim({ ...request, claimId: "c-1", maxCount: 1 });
    clock.ms += 4_000;
    const { claims } = await store.claim({ ...request, claimId: "c-1" });
    // The first was leased 4 500 ms before the second, and 500 ms are the call's own.
    expect(claims.map(remaining)).toEqual([5_000, 9_500]);
    expect(claims.map(({ dueAt }) => dueAt === null)).toEqual([true, false]);
  });

  it("of a renewal is reckoned from when it was sent", async () => {
    const { store, remaining, clock } = slowStore();
    await store.enqueue({ type: "a" });
    const { claims } = await store.claim(request);
    clock.ms += 5_000;
    const [extension] = await store.extendClaims(claims, { leaseDurationMs: 20_000 });
    expect(extension?.outcome).toBe("applied");
    expect(extension?.claim && remaining(extension.claim)).toBe(19_500);
    expect(extension?.claim?.claimToken).toBe(claims[0]?.claimToken);
    expect(extension?.claim?.entry.claimExpiresAt).toEqual(extension?.claim?.claimExpiresAt);
  });

  it("of a renewal that the store made shorter is that of the shorter lease", async () => {
    const { store, remaining } = slowStore({
      extend: async (claims) => {
        const at = new Date(86_400_000);
        const claimExpiresAt = new Date(at.getTime() + 3_000);
        return claims.map(() => ({ outcome: "applied", at, claimExpiresAt }));
      },
    });
    await store.enqueue({ type: "a" });
    const { claims } = await store.claim(request);
    const [extension] = await store.extendClaims(claims, { leaseDurationMs: 20_000 });
    expect(extension?.claim && remaining(extension.claim)).toBe(3_000);
  });

  it("is followed by a lease that the store still honours", async () => {
    const { store, outbox, remaining } = slowStore();
    await store.enqueue({ type: "a" });
    const [claim] = (await store.claim(request)).claims;
    const storeHasLeft = (claim?.claimExpiresAt.getTime() ?? 0) - outbox.now();
    expect(claim && remaining(claim)).toBeLessThanOrEqual(storeHasLeft);
  });
});

describe("the instant of a failure", () => {
  it("is the store's, as far as this process can tell", async () => {
    const { store, outbox, clock } = slowStore();
    await store.enqueue({ type: "a" });
    const [claim] = (await store.claim(request)).claims;
    clock.ms += 2_000;
    if (claim === undefined) throw new Error("nothing was claimed");
    const error = { code: "x", message: "y", isRetryable: true };
    const { entry } = await store.markClaimFailed(claim, error);
    // Within the round trip of the claim.
    expect(Math.abs((entry?.failures[0]?.at.getTime() ?? 0) - outbox.now())).toBeLessThanOrEqual(
      300,
    );
  });
});

describe("a claim whose reply was lost", () => {
  const lost = () => {
    const claim = vi.fn(async () => {
      throw new DriverFault("unknown-outcome");
    });
    return { claim, store: slowStore({ claim }).store };
  };

  it("is not repeated without an id: its entries would be leased to nobody", async () => {
    const { claim, store } = lost();
    await expect(store.claim(request)).rejects.toMatchObject({ kind: "unknown-outcome" });
    expect(claim).toHaveBeenCalledTimes(1);
  });

  it("is repeated with one", async () => {
    const { claim, store } = lost();
    const { claims } = await store.claim(request).catch(() => ({ claims: [] }));
    expect(claims).toEqual([]);
    await expect(store.claim({ ...request, claimId: "c-1" })).rejects.toMatchObject({
      kind: "unknown-outcome",
    });
    expect(claim).toHaveBeenCalledTimes(1 + 8);
  });
});

describe("a claim command", () => {
  const commandOf = async (
    capabilities: NonNullable<Parameters<typeof testDriver>[0]>["capabilities"] = {},
    given: object = {},
  ) => {
    const claim = vi.fn(async () => ({
      at: new Date(),
      claims: [],
      more: "none" as const,
      suspectsDue: false,
      cursor: null,
    }));
    await slowStore({ claim, capabilities }).store.claim({ workerId: "worker-1", ...given });
    return (claim.mock.calls as unknown[][])[0]?.[0];
  };

  it("has the defaults", async () => {
    expect(await commandOf()).toMatchObject({
      kind: "any",
      leaseDurationMs: 60_000,
      maxCount: 100,
      maxBytes: null,
      types: null,
      suspects: "include",
      claimId: null,
      after: null,
    });
  });

  it("has defaults that the store can keep", async () => {
    expect(await commandOf({ maxClaimCount: 10, maxLeaseMs: 20_000 })).toMatchObject({
      maxCount: 10,
      leaseDurationMs: 20_000,
    });
  });

  it("tells exact types from prefixes, and every type from none", async () => {
    expect(await commandOf({}, { types: ["a.b", "a.*", "c"] })).toMatchObject({
      types: { exact: ["a.b", "c"], prefixes: ["a."] },
    });
    expect(await commandOf({}, { types: ["a.b", "*"] })).toMatchObject({ types: null });
  });
});

describe("a driver that breaks its contract is noticed", () => {
  it("when it gives a claim without its fields", async () => {
    const entry = testEntry({ claimToken: null });
    const { store } = slowStore({
      claim: async () => ({
        at: new Date(),
        claims: [{ entry, dueAt: null }],
        more: "none",
        suspectsDue: false,
        cursor: null,
      }),
    });
    await expect(store.claim(request)).rejects.toMatchObject({ code: "outbox.broken_driver" });
  });

  it("when it answers a renewal with too little", async () => {
    const { store } = slowStore({ extend: async () => [] });
    await store.enqueue({ type: "a" });
    const { claims } = await store.claim(request);
    await expect(store.extendClaims(claims, { leaseDurationMs: 1_000 })).rejects.toMatchObject({
      code: "outbox.broken_driver",
    });
  });
});

describe("renewals", () => {
  it("are split as transitions are, with outcomes in input order", async () => {
    const { memory } = slowStore();
    const extend = vi.fn(memory.extend);
    const { store } = slowStore({ extend, capabilities: { maxTransitionBatch: 2 } });
    await store.enqueue([{ type: "a" }, { type: "b" }, { type: "c" }]);
    const { claims } = await store.claim(request);
    const extensions = await store.extendClaims([...claims, ...claims.slice(0, 1)], {
      leaseDurationMs: 1_000,
    });
    expect(extend.mock.calls.map(([batch]) => batch.length)).toEqual([2, 2]);
    expect(extensions).toHaveLength(4);
  });

  it("of nothing are nothing", async () => {
    const { store } = slowStore();
    expect(await store.extendClaims([], { leaseDurationMs: 1_000 })).toEqual([]);
    expect(await store.completeClaims([])).toEqual([]);
  });
});
