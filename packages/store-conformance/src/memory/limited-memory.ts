import { memoryCapabilities, type StoreCapabilities } from "@outbox/core";
import type { StoreHarness } from "../harness/store-harness.js";
import { withOverrides } from "../mutants/with-overrides.js";
import { createMemoryHarness } from "./create-memory-harness.js";

/** What a queue in the cloud can do, roughly: the denied half of the capabilities. */
export const limitedMemoryCapabilities: StoreCapabilities = {
  ...memoryCapabilities,
  claimKinds: "merged",
  typeFilter: "none",
  claimReplay: false,
  keepsDelivered: "never",
  crashIsolation: false,
  maxLeaseMs: 43_200_000,
  maxDelayMs: 43_200_000,
  maxClaimCount: 50,
  maxTransitionBatch: 7,
};

/** Memory that denies what it can: the suite's negative cases, on a store that is otherwise good. */
export function createLimitedMemoryHarness(): StoreHarness {
  return createMemoryHarness({
    layer: (driver, outbox) =>
      withOverrides(driver, {
        capabilities: limitedMemoryCapabilities,
        selection: undefined,
        inspection: undefined,
        redrive: undefined,
        retention: undefined,
        wakeUp: undefined,
        complete: async (completions: Parameters<typeof driver.complete>[0]) => {
          const transitions = await driver.complete(completions);
          for (const row of [...outbox.rows.values()]) {
            if (row.entry.status === "delivered") outbox.delete(row);
          }
          return transitions;
        },
      }),
  });
}
