import { createMemoryDriver, defineStore, MemoryOutbox } from "@outbox/core";
import type { StoreHarness } from "../harness/store-harness.js";
import { memoryRawProbes } from "./memory-raw-probes.js";

/** The reference store under the kit: one map per outbox, and a clock that can be moved. */
export function createMemoryHarness(): StoreHarness {
  return {
    createOutbox: async ({ wrapDriver } = {}) => {
      let passedMs = 0;
      // Not `Date.now`, which cases set wrong: the store's clock is not the host's.
      const outbox = new MemoryOutbox(() =>
        Math.floor(performance.timeOrigin + performance.now() + passedMs),
      );
      const openStore = async () => {
        const driver = createMemoryDriver(outbox);
        return defineStore(wrapDriver === undefined ? driver : wrapDriver(driver));
      };
      return {
        store: await openStore(),
        openStore,
        raw: memoryRawProbes(outbox),
        time: {
          mode: "clock",
          advance: async (ms) => {
            passedMs += ms;
          },
        },
        close: async () => undefined,
      };
    },
    close: async () => undefined,
  };
}
