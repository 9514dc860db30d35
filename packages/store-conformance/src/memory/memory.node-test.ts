import { memoryCapabilities } from "@outbox/core";
import { describeStoreConformance, describeStoreMutants } from "../node-test.js";
import { createMemoryHarness } from "./create-memory-harness.js";

const memory = {
  name: "memory",
  capabilities: memoryCapabilities,
  harness: () => createMemoryHarness(),
};

describeStoreConformance(memory);
describeStoreMutants(memory);
