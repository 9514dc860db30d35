import { describe, expect, it, vi } from "vitest";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { DriverTransition } from "../contract/store-driver.js";
import { createMemoryStore } from "../memory/create-memory-store.js";
import { MemoryOutbox } from "../memory/memory-outbox.js";
import { memorySelection } from "../memory/memory-selection.js";
import { defineStore } from "./define-store.js";
import { DriverFault, testDriver } from "./test-driver.js";

const error = { code: "http.503", message: "busy", isRetryable: true };

async function storeWithOne() {
  const outbox = new MemoryOutbox();
  const store = createMemoryStore({ outbox });
  const { entryId } = await store.enqueue({ type: "order.placed" });
  const read = async (): Promise<OutboxEntry> => {
    const entry = await store.findByOutboxEntryId(entryId);
    if (entry === null) throw new Error("the entry is gone");
    return entry;
  };
  return { outbox, store, entryId, read };
}

/** A store whose `save` answers as told: the first tries, or else all. */
function storeThatAnswers(outbox: MemoryOutbox, answer: () => DriverTransition, tries = 1_000) {
  const selection = memorySelection(outbox);
  const save = vi.fn(selection.save);
  for (let left = tries; left > 0; left--) save.mockImplementationOnce(async () => answer());
  const driver = { ...testDriver({}, outbox), selection: { ...selection, save } };
  return { store: defineStore(driver), save };
}

describe("marking without a claim", () => {
  it("returns the entry as it is afterwards", async () => {
    const { store, entryId, read } = await storeWithOne();
    const { outcome, entry } = await store.markFailed(entryId, error, { retryInMs: 5_000 });
    expect(outcome).toBe("applied");
    expect(entry).toEqual(await read());
    expect(entry).toMatchObject({ status: "retryable-failure", retryCount: 1 });
  });

  it("answers leased on a live lease and terminal on a terminal entry, changing nothing", async () => {
    const { store, entryId, read } = await storeWithOne();
    const [claim] = (await store.claim({ workerId: "w" })).claims;
    const leased = await read();
    const marks = () => [
      store.markDelivered(entryId),
      store.markFailed(entryId, error),
      store.markDeadLettered(entryId, error),
    ];
    for (const mark of marks()) expect((await mark).outcome).toBe("leased");
    expect(await read()).toEqual(leased);
    if (claim !== undefined) await store.markClaimDelivered(claim);
    const delivered = await read();
    for (const mark of marks()) expect((await mark).outcome).toBe("terminal");
    expect((await store.save(delivered, { ...delivered, status: "pending" })).outcome).toBe(
      "terminal",
    );
    expect(await read()).toEqual(delivered);
  });

  it("answers missing where there is no such entry", async () => {
    const { store } = await storeWithOne();
    expect(await store.markDelivered("nobody")).toEqual({ outcome: "missing", entry: null });
  });

  it("takes texts that a store would refuse, as a claim's transition does", async () => {
    const { store, entryId } = await storeWithOne();
    const bad = { code: "a\u0000", message: "b\ud800", isRetryable: false };
    const { entry } = await store.markDeadLettered(entryId, bad);
    expect(entry).toMatchObject({
      deadLetterReason: "a␀",
      failures: [{ code: "a␀", message: "b�" }],
    });
  });

  it("reads again after a lost race, but not for ever", async () => {
    const { outbox, entryId } = await storeWithOne();
    const lost: DriverTransition = { outcome: "concurrency-lost", at: null };
    const once = storeThatAnswers(outbox, () => lost);
    const always = (await once.store.markDelivered(entryId)).outcome;
    expect(always).toBe("concurrency-lost");
    expect(once.save).toHaveBeenCalledTimes(10);
    const twice = storeThatAnswers(outbox, () => lost, 2);
    expect((await twice.store.markDelivered(entryId)).outcome).toBe("applied");
    expect(twice.save).toHaveBeenCalledTimes(3);
  });

  it("is not repeated after a lost reply: it might count a failure twice", async () => {
    const { outbox, entryId } = await storeWithOne();
    const { store, save } = storeThatAnswers(outbox, () => {
      throw new DriverFault("unknown-outcome");
    });
    await expect(store.markFailed(entryId, error)).rejects.toMatchObject({
      kind: "unknown-outcome",
    });
    expect(save).toHaveBeenCalledTimes(1);
  });
});

describe("save", () => {
  it("writes over what was read, once", async () => {
    const { store, read } = await storeWithOne();
    const before = await read();
    const next = { ...before, status: "deferred", nextRetryAt: new Date(5_000) } as const;
    const first = await store.save(before, next);
    expect(first).toMatchObject({ outcome: "applied", entry: { status: "deferred" } });
    expect(first.entry).toEqual(await read());
    expect((await store.save(before, next)).outcome).toBe("concurrency-lost");
  });

  it("does not unpark: that is an operator's redrive", async () => {
    const { store, entryId, read } = await storeWithOne();
    await store.markFailed(entryId, { ...error, isRetryable: false });
    const parked = await read();
    await expect(store.save(parked, { ...parked, status: "pending" })).rejects.toMatchObject({
      code: "outbox.invalid_argument",
      message: expect.stringContaining("redrive"),
    });
    expect(await read()).toEqual(parked);
  });
});
