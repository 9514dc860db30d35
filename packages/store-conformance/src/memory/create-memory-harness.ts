import { createMemoryDriver, defineStore, MemoryOutbox } from "@outbox/core";
import type { StoreHarness } from "../harness/store-harness.js";
import type { StoreTime } from "../harness/store-time.js";
import { memoryRawProbes } from "./memory-raw-probes.js";

type MemoryDriver = ReturnType<typeof createMemoryDriver>;

export interface MemoryHarnessOptions {
  /** Goes around every driver before anything else does. */
  readonly layer?: (driver: MemoryDriver, outbox: MemoryOutbox) => MemoryDriver;
  /** `wait` moves no clock, as where there is none to move. @defaultValue `"clock"` */
  readonly timeMode?: Exclude<StoreTime["mode"], "shift">;
}

/** The reference store under the kit: one map per outbox, and a clock that can be moved. */
export function createMemoryHarness({
  layer = (driver) => driver,
  timeMode = "clock",
}: MemoryHarnessOptions = {}): StoreHarness {
  return {
    createOutbox: async ({ wrapDriver } = {}) => {
      let passedMs = 0;
      // Not `Date.now`, which cases set wrong: the store's clock is not the host's.
      const outbox = new MemoryOutbox(() =>
        Math.floor(performance.timeOrigin + performance.now() + passedMs),
      );
      const openStore = async () => {
        const driver = layer(createMemoryDriver(outbox), outbox);
        return defineStore(wrapDriver === undefined ? driver : wrapDriver(driver));
      };
      const time: StoreTime = {
        mode: timeMode,
        advance: async (ms) => {
          if (timeMode === "clock") passedMs += ms;
          else await new Promise((resolve) => setTimeout(resolve, ms));
        },
      };
      return {
        store: await openStore(),
        openStore,
        raw: memoryRawProbes(outbox),
        time,
        close: async () => undefined,
      };
    },
    close: async () => undefined,
  };
}
