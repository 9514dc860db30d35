import { afterEach, describe, expect, it, vi } from "vitest";
import { uuidV7 } from "./uuid-v7.js";

afterEach(() => vi.useRealTimers());

describe("uuidV7", () => {
  it("has the form of version 7 and is different each time", () => {
    const ids = Array.from({ length: 1_000 }, uuidV7);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is ordered by the ms of its creation, beyond 32 bits too", () => {
    vi.useFakeTimers();
    const ids = [0, 1, 2 ** 32 - 1, 2 ** 32, Date.UTC(2026, 0), Date.UTC(9999, 0)].map((now) => {
      vi.setSystemTime(now);
      return uuidV7();
    });
    expect([...ids].sort()).toEqual(ids);
    expect(ids[3]?.startsWith("00010000-0000-7")).toBe(true);
  });
});
