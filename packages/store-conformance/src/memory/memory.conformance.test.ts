import { memoryCapabilities } from "@outbox/core";
import { mutants } from "../mutants/all-mutants.js";
import { describeStoreConformance, describeStoreMutants } from "../vitest.js";
import { createMemoryHarness } from "./create-memory-harness.js";
import { createLimitedMemoryHarness, limitedMemoryCapabilities } from "./limited-memory.js";

const memory = {
  name: "memory",
  capabilities: memoryCapabilities,
  harness: () => createMemoryHarness(),
};

const limitedMemory = {
  name: "memory that denies what it can",
  capabilities: limitedMemoryCapabilities,
  harness: createLimitedMemoryHarness,
};

for (const store of [memory, limitedMemory]) describeStoreConformance(store);

describeStoreMutants(memory);

// The faults that only a store can have which denies something.
describeStoreMutants({
  ...limitedMemory,
  only: [
    "limit-not-enforced",
    ...mutants.filter(({ mode }) => mode === "negative").map(({ id }) => id),
  ],
});
