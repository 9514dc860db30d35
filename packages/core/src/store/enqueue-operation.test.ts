import { describe, expect, it, vi } from "vitest";
import type { EnqueueInput } from "../contract/enqueue-input.js";
import type { InsertTarget, NewEntry } from "../contract/store-driver.js";
import { NotATransactionError } from "../errors/not-a-transaction-error.js";
import { createMemoryDriver } from "../memory/memory-driver.js";
import { MemoryOutbox } from "../memory/memory-outbox.js";
import { defineStore } from "./define-store.js";
import { DriverFault, testDriver } from "./test-driver.js";

type Transaction = { readonly name: string };
const tx: Transaction = { name: "tx" };

/** A store with transactional enqueue whose insert does what it is told to. */
function transactionalStore(
  insert: (entries: readonly NewEntry[], target: InsertTarget<Transaction>) => Promise<never[]>,
) {
  const { insert: _memory, ...rest } = testDriver({ capabilities: { transactionalEnqueue: true } });
  const spy = vi.fn(insert);
  return { store: defineStore({ ...rest, insert: spy }), spy };
}

describe("in the caller's transaction", () => {
  it.each(["transient", "unknown-outcome", "permanent"] as const)(
    "the driver's own %s error comes through, and nothing is repeated",
    async (kind) => {
      const fault = Object.assign(new DriverFault(kind), { code: "40001" });
      const { store, spy } = transactionalStore(async () => {
        throw fault;
      });
      await expect(store.enqueue({ type: "a" }, { tx })).rejects.toBe(fault);
      expect(spy).toHaveBeenCalledTimes(1);
      expect(spy.mock.calls[0]?.[1]).toEqual({ tx });
    },
  );

  it("a handle that is none is refused by the driver's own word", async () => {
    const refusal = new NotATransactionError("is a pool");
    const { store } = transactionalStore(async () => {
      throw refusal;
    });
    await expect(store.enqueue({ type: "a" }, { tx })).rejects.toBe(refusal);
  });

  it("nothing is sent after close", async () => {
    const { store, spy } = transactionalStore(async () => []);
    await store.close();
    await expect(store.enqueue({ type: "a" }, { tx })).rejects.toMatchObject({
      code: "outbox.closed",
    });
    expect(spy).not.toHaveBeenCalled();
  });

  it("a synchronous throw of the driver is a rejection", async () => {
    const { store } = transactionalStore(() => {
      throw new Error("at once");
    });
    await expect(store.enqueue({ type: "a" }, { tx })).rejects.toThrow("at once");
  });
});

describe("autonomously", () => {
  it("an insert whose reply was lost is repeated, and writes once", async () => {
    const outbox = new MemoryOutbox();
    const memory = createMemoryDriver(outbox);
    let isLost = true;
    const insert = vi.fn(async (entries: readonly NewEntry[]) => {
      const inserted = await memory.insert(entries, { autonomous: true });
      if (isLost) {
        isLost = false;
        throw new DriverFault("unknown-outcome");
      }
      return inserted;
    });
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const { entryId } = await defineStore(testDriver({ insert }, outbox)).enqueue({ type: "a" });
    expect(insert).toHaveBeenCalledTimes(2);
    expect([...outbox.rows.keys()]).toEqual([entryId]);
    warned.mockRestore();
  });
});

describe("an entry", () => {
  const enqueued = async (input: EnqueueInput, source?: string) => {
    const outbox = new MemoryOutbox();
    await defineStore(testDriver({}, outbox), { source }).enqueue(input);
    const [row] = outbox.rows.values();
    if (row === undefined) throw new Error("nothing was enqueued");
    return row;
  };

  it("has defaults for everything but its type", async () => {
    const { entry, payload } = await enqueued({ type: "order.placed" });
    expect(entry).toMatchObject({
      destination: "default",
      metadata: {},
      orderingKey: null,
      availableAt: null,
      envelope: {
        type: "order.placed",
        source: "/outbox",
        subject: null,
        dataContentType: "application/json",
        dataSchema: null,
        traceparent: null,
      },
    });
    expect(entry.entryId).toBe(entry.envelope.envelopeId);
    expect(entry.envelope.envelopeId).toMatch(/^[0-9a-f-]{36}$/);
    expect(Math.abs(entry.envelope.time.getTime() - Date.now())).toBeLessThan(5_000);
    expect(payload).toMatchObject({ text: "null" });
  });

  it("has what was given", async () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const time = new Date("2026-01-02T03:04:05.678Z");
    const { entry } = await enqueued(
      {
        type: "order.placed",
        envelopeId: "e-1",
        destination: "billing",
        subject: "order-1",
        time,
        dataSchema: "https://shop/order.json",
        traceparent,
        metadata: { "a b": "\u0000", __proto__x: "y" },
        availableAt: new Date("2030-01-01T00:00:00.000Z"),
      },
      "/shop",
    );
    expect(entry.entryId).toBe("e-1@billing");
    expect(entry.envelope).toMatchObject({
      source: "/shop",
      subject: "order-1",
      time,
      traceparent,
    });
    expect(entry.metadata).toEqual({ "a b": "\u0000", __proto__x: "y" });
    expect(entry.availableAt).toEqual(new Date("2030-01-01T00:00:00.000Z"));
  });

  it("of bytes says so, and one of a given id keeps it", async () => {
    const { entry } = await enqueued({ type: "a", entryId: "id-1", payload: new Uint8Array(3) });
    expect(entry.envelope.dataContentType).toBe("application/octet-stream");
    expect(entry).toMatchObject({ entryId: "id-1", payloadBytes: 3 });
  });

  it("keeps nothing of the caller's that can change", async () => {
    const time = new Date(1_000);
    const metadata = { a: "1" };
    const availableAt = new Date(2_000);
    const { entry } = await enqueued({ type: "a", time, metadata, availableAt });
    time.setTime(0);
    availableAt.setTime(0);
    metadata.a = "2";
    expect(entry.envelope.time).toEqual(new Date(1_000));
    expect(entry.availableAt).toEqual(new Date(2_000));
    expect(entry.metadata).toEqual({ a: "1" });
  });

  it("has a __proto__ in its metadata as any other key", async () => {
    const metadata = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const { entry } = await enqueued({ type: "a", metadata });
    expect(Object.entries(entry.metadata)).toEqual([["__proto__", "x"]]);
  });
});

describe("several envelopes", () => {
  it("are one insert, with results in input order", async () => {
    const outbox = new MemoryOutbox();
    const memory = createMemoryDriver(outbox);
    const insert = vi.fn(memory.insert);
    const store = defineStore(testDriver({ insert }, outbox));
    await store.enqueue({ type: "a", envelopeId: "there" });
    const results = await store.enqueue([
      { type: "a", envelopeId: "x" },
      { type: "a", envelopeId: "there" },
      { type: "a", envelopeId: "x", destination: "other" },
      { type: "b", envelopeId: "x" },
    ]);
    expect(results).toEqual([
      { entryId: "x", envelopeId: "x", destination: "default", enqueued: true },
      { entryId: "there", envelopeId: "there", destination: "default", enqueued: false },
      { entryId: "x@other", envelopeId: "x", destination: "other", enqueued: true },
      { entryId: "x", envelopeId: "x", destination: "default", enqueued: false },
    ]);
    expect(insert).toHaveBeenCalledTimes(2);
    expect(insert.mock.calls[1]?.[0]).toHaveLength(3);
    expect(outbox.rows.get("x")?.entry.envelope.type).toBe("a");
  });

  it("may be none", async () => {
    const insert = vi.fn(async () => []);
    expect(await defineStore(testDriver({ insert })).enqueue([])).toEqual([]);
    expect(insert).not.toHaveBeenCalled();
  });

  it("are all or none where an id is taken", async () => {
    const outbox = new MemoryOutbox();
    const store = defineStore(testDriver({}, outbox));
    await store.enqueue({ type: "a", entryId: "taken" });
    await expect(
      store.enqueue([{ type: "b" }, { type: "b", entryId: "taken" }]),
    ).rejects.toMatchObject({ code: "outbox.entry_id_taken", entryId: "taken" });
    expect([...outbox.rows.keys()]).toEqual(["taken"]);
  });

  it("that come back with too few results show a broken driver", async () => {
    const store = defineStore(testDriver({ insert: async () => [] }));
    await expect(store.enqueue([{ type: "a" }])).rejects.toMatchObject({
      code: "outbox.broken_driver",
    });
  });
});
