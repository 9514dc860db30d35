import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StoreErrorKind } from "../contract/store-driver.js";
import { ClosedError } from "../errors/closed-error.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { StoreError } from "../errors/store-error.js";
import { type RepeatRule, StoreCalls } from "./store-calls.js";
import { DriverFault, testDriver } from "./test-driver.js";

/** Fails so often, then succeeds; counts how often it was called. */
function failing(times: number, error: unknown) {
  return vi.fn(async () => {
    if (call.mock.calls.length <= times) throw error;
    return "done";
  });
}
let call: ReturnType<typeof failing>;

const warned = vi.spyOn(process, "emitWarning");

beforeEach(() => {
  vi.useFakeTimers();
  warned.mockReset().mockImplementation(() => undefined);
});
afterEach(() => vi.useRealTimers());

async function run(rule: RepeatRule, calls = new StoreCalls(testDriver())) {
  const result = calls.run("claim", rule, call).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return result;
}

describe("a call that fails once", () => {
  const rules: readonly [StoreErrorKind, RepeatRule, number][] = [
    ["transient", "never", 1],
    ["transient", "if-not-applied", 2],
    ["transient", "always", 2],
    ["unknown-outcome", "never", 1],
    ["unknown-outcome", "if-not-applied", 1],
    ["unknown-outcome", "always", 2],
    ["invalid-data", "always", 1],
    ["permanent", "always", 1],
  ];

  it.each(rules)(
    "with a %s error and the rule %s is tried %i time(s)",
    async (kind, rule, tries) => {
      const fault = new DriverFault(kind);
      call = failing(1, fault);
      const result = await run(rule);
      expect(call).toHaveBeenCalledTimes(tries);
      if (tries === 2) expect(result).toBe("done");
      else expect(result).toMatchObject({ code: "outbox.store_error", kind, cause: fault });
    },
  );
});

describe("repetition", () => {
  it("is bounded", async () => {
    call = failing(1_000, new DriverFault("transient"));
    const result = await run("always");
    expect(call).toHaveBeenCalledTimes(8);
    expect(result).toBeInstanceOf(StoreError);
    expect(result).toMatchObject({ isTransient: true, operation: "claim" });
  });

  it("waits a little longer each time, two seconds at most together", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.999);
    call = failing(7, new DriverFault("transient"));
    const startedAt = Date.now();
    expect(await run("always")).toBe("done");
    expect(Date.now() - startedAt).toBeGreaterThan(300);
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    vi.mocked(Math.random).mockRestore();
  });

  it("does not forget that one try may have been applied, when the others were not", async () => {
    const errors = [new DriverFault("unknown-outcome"), new DriverFault("transient")];
    call = vi.fn(async () => {
      throw errors[Math.min(call.mock.calls.length - 1, 1)];
    });
    const result = await run("always");
    expect(call).toHaveBeenCalledTimes(8);
    expect(result).toMatchObject({ kind: "unknown-outcome", cause: errors[1] });
  });

  it("is counted, and warned of once per store", async () => {
    const calls = new StoreCalls(testDriver());
    call = failing(3, new DriverFault("transient", "could not serialize\u0000"));
    await run("always", calls);
    call = failing(1, new DriverFault("transient"));
    await run("always", calls);
    expect(calls.repeats).toBe(4);
    expect(warned).toHaveBeenCalledTimes(1);
    expect(warned).toHaveBeenCalledWith(
      expect.stringMatching(/claim is repeated.*could not serialize␀.*READ COMMITTED/),
      { type: "OutboxWarning", code: "OUTBOX_STORE_REPEATS" },
    );
  });

  it("is nothing to warn of where nothing was repeated", async () => {
    call = failing(1, new DriverFault("permanent"));
    await run("always");
    expect(warned).not.toHaveBeenCalled();
  });
});

describe("what is thrown", () => {
  it("by the project itself passes as it is, and is not repeated", async () => {
    const error = new InvalidArgumentError("request.after", "is no cursor");
    call = failing(1, error);
    expect(await run("always")).toBe(error);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it.each([undefined, null, 0, "text", Object.create(null), Symbol("s")])(
    "may be anything: %o",
    async (thrown) => {
      call = failing(1, thrown);
      expect(await run("always")).toMatchObject({ code: "outbox.store_error", kind: "permanent" });
    },
  );

  it("synchronously is an error like any other", async () => {
    const calls = new StoreCalls(testDriver());
    const thrown = calls.run("claim", "never", () => {
      throw new DriverFault("permanent", "at once");
    });
    await expect(thrown).rejects.toThrow("test store: claim failed (permanent): at once");
  });
});

describe("after close", () => {
  it("every call is refused, and the driver is closed once", async () => {
    const close = vi.fn(async () => undefined);
    const calls = new StoreCalls(testDriver({ close }));
    await Promise.all([calls.close(), calls.close()]);
    await calls.close();
    call = failing(0, null);
    expect(await run("always", calls)).toBeInstanceOf(ClosedError);
    expect(call).not.toHaveBeenCalled();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it("a call that was waiting to be repeated gives up", async () => {
    const calls = new StoreCalls(testDriver());
    call = failing(1, new DriverFault("transient"));
    const result = calls.run("claim", "always", call).catch((error: unknown) => error);
    await calls.close();
    await vi.runAllTimersAsync();
    expect(await result).toBeInstanceOf(StoreError);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("a close that fails is a rejection, even if it throws", async () => {
    const calls = new StoreCalls(
      testDriver({
        close: () => {
          throw new Error("still busy");
        },
      }),
    );
    await expect(calls.close()).rejects.toThrow("still busy");
  });
});
