import { describe, expect, it, vi } from "vitest";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import { createMemoryStore } from "./create-memory-store.js";
import { MemoryOutbox } from "./memory-outbox.js";

/** Changes everything that can be changed in an entry. */
function vandalise(entry: OutboxEntry | null | undefined): void {
  if (entry === null || entry === undefined) throw new Error("there is no entry");
  for (const value of Object.values(entry)) if (value instanceof Date) value.setTime(0);
  Object.assign(entry.metadata, { vandal: "was here" });
  entry.failures[0]?.at.setTime(0);
  (entry.failures as unknown[]).push("was here");
  entry.envelope.time.setTime(0);
  if (entry.envelope.payload instanceof Uint8Array) entry.envelope.payload.fill(0);
  else Object.assign(entry.envelope.payload as object, { vandal: "was here" });
}

async function outboxWithTwo() {
  const outbox = new MemoryOutbox();
  const store = createMemoryStore({ outbox });
  await store.enqueue([
    { type: "a", envelopeId: "json", payload: { list: [1] }, metadata: { a: "1" } },
    { type: "a", envelopeId: "bytes", payload: new Uint8Array([1, 2, 3]) },
  ]);
  return { outbox, store };
}

describe("what the memory store has given away", () => {
  it("can be changed without reaching the outbox", async () => {
    const { outbox, store } = await outboxWithTwo();
    const { claims } = await store.claim({ workerId: "w" });
    for (const claim of claims) {
      const rows = structuredClone(outbox.rows);
      const { entryId } = claim.entry;
      vandalise(await store.show(entryId));
      vandalise(await store.findByOutboxEntryId(entryId));
      for (const entry of (await store.list({ all: true })).entries) entry.createdAt.setTime(0);
      const [extension] = await store.extendClaims([claim], { leaseDurationMs: 60_000 });
      extension?.claim?.claimExpiresAt.setTime(0);
      vandalise(claim.entry);
      const [was, is] = [rows.get(entryId), outbox.rows.get(entryId)];
      expect(is?.entry.claimExpiresAt?.getTime()).toBeGreaterThan(0);
      expect({ ...is?.entry, claimExpiresAt: null }).toEqual({
        ...was?.entry,
        claimExpiresAt: null,
      });
      expect(is?.payload).toEqual(was?.payload);
    }
  });

  it("is no part of it after a transition either", async () => {
    const { outbox, store } = await outboxWithTwo();
    const [claim] = (await store.claim({ workerId: "w", maxCount: 1 })).claims;
    if (claim === undefined) throw new Error("nothing was claimed");
    const next = {
      ...claim.entry,
      status: "deferred" as const,
      nextRetryAt: new Date(5_000),
      metadata: { b: "2" },
      failures: [{ at: new Date(5_000), code: "x", message: "y" }],
    };
    const { entry } = await store.saveClaim(claim, next);
    const row = structuredClone(outbox.rows.get("json"));
    vandalise(entry);
    vandalise(next);
    expect(outbox.rows.get("json")).toEqual(row);
  });
});

describe("a wake-up", () => {
  it("calls the listener's own method, as long as it is subscribed", async () => {
    const store = createMemoryStore();
    class Listener {
      readonly woken = vi.fn();
      onWakeUp() {
        this.woken();
      }
    }
    const listener = new Listener();
    const first = await store.subscribe(listener);
    const second = await store.subscribe(listener);
    await store.enqueue({ type: "a" });
    await vi.waitFor(() => expect(listener.woken).toHaveBeenCalledTimes(2));
    await first.close();
    await store.enqueue({ type: "a" });
    await vi.waitFor(() => expect(listener.woken).toHaveBeenCalledTimes(3));
    await second.close();
    await store.enqueue({ type: "a" });
    await Promise.resolve();
    expect(listener.woken).toHaveBeenCalledTimes(3);
  });
});

describe("a list", () => {
  it("goes on where the last page ended", async () => {
    const { store } = await outboxWithTwo();
    const first = await store.list({ all: true }, { maxCount: 1 });
    const second = await store.list({ all: true }, { maxCount: 1, after: first.cursor });
    expect([first, second].flatMap((page) => page.entries.map((one) => one.entryId))).toEqual([
      "json",
      "bytes",
    ]);
    expect(second.cursor).toBeUndefined();
  });

  it.each(["x", "-1", "1.5", "1e3", "9".repeat(20)])("refuses the cursor %s", async (after) => {
    const { store } = await outboxWithTwo();
    await expect(store.list({ all: true }, { after })).rejects.toMatchObject({
      code: "outbox.invalid_argument",
      argument: "options.after",
    });
  });
});
