import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { DeadlineError, withDeadline } from "./emission-deadline.js";

const forever = () => new Promise<never>(() => undefined);

describe("withDeadline", () => {
  it("gives the result, and leaves no listener behind", async () => {
    const { signal } = new AbortController();
    expect(await withDeadline(signal, 60_000, async () => "done")).toBe("done");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("ends work that does not notice the timeout", async () => {
    let inner: AbortSignal | undefined;
    const run = withDeadline(new AbortController().signal, 10, (signal) => {
      inner = signal;
      return forever();
    });
    await expect(run).rejects.toBeInstanceOf(DeadlineError);
    expect(inner?.aborted).toBe(true);
  });

  it("ends work that does not notice the signal, with the signal's reason", async () => {
    const controller = new AbortController();
    const run = withDeadline(controller.signal, 60_000, forever);
    controller.abort("lease lost");
    await expect(run).rejects.toBe("lease lost");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("does not begin after the signal", async () => {
    const run = withDeadline(AbortSignal.abort("too late"), 60_000, async () => {
      throw new Error("began");
    });
    await expect(run).rejects.toBe("too late");
  });
});
