import { afterEach, describe, expect, it, vi } from "vitest";
import { OutboxError } from "../errors/outbox-error.js";
import { createMemoryStore } from "./create-memory-store.js";
import { MemoryOutbox } from "./memory-outbox.js";

afterEach(() => vi.unstubAllEnvs());

describe("createMemoryStore", () => {
  it("refuses production, and says what to do", () => {
    vi.stubEnv("NODE_ENV", "production");
    const refusal = expect.objectContaining({
      code: "outbox.memory_in_production",
      message: expect.stringMatching(/store package.*allowInProduction/),
    });
    expect(() => createMemoryStore()).toThrow(refusal);
    expect(() => createMemoryStore()).toThrow(OutboxError);
    expect(() => createMemoryStore({ allowInProduction: false })).toThrow(refusal);
  });

  it("is allowed there if losing entries is acceptable, and anywhere else", () => {
    vi.stubEnv("NODE_ENV", "production");
    expect(createMemoryStore({ allowInProduction: true }).storeName).toBe("memory");
    for (const environment of ["", "test", "development"]) {
      vi.stubEnv("NODE_ENV", environment);
      expect(createMemoryStore().storeName).toBe("memory");
    }
  });

  it("shares entries with stores on the same outbox only", async () => {
    const outbox = new MemoryOutbox();
    const { entryId } = await createMemoryStore({ outbox }).enqueue({ type: "a" });
    expect(await createMemoryStore({ outbox }).show(entryId)).not.toBeNull();
    expect(await createMemoryStore().show(entryId)).toBeNull();
  });

  it("gives its source to envelopes that name none", async () => {
    const store = createMemoryStore({ source: "/shop" });
    const own = await store.enqueue({ type: "a" });
    const other = await store.enqueue({ type: "a", source: "/other" });
    expect((await store.show(own.entryId))?.envelope.source).toBe("/shop");
    expect((await store.show(other.entryId))?.envelope.source).toBe("/other");
  });

  it("is closed at the end of its scope", async () => {
    const store = createMemoryStore();
    await store[Symbol.asyncDispose]();
    for (const call of [
      store.enqueue({ type: "a" }),
      store.claim({ workerId: "w" }),
      store.stats(),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "outbox.closed" });
    }
  });
});
