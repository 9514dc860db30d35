import { describeStoreConformance } from "@outbox/store-conformance/vitest";
import { sqsFifoCapabilities, sqsStandardCapabilities } from "./capabilities.js";
import { createSqsHarness } from "./testing/create-sqs-harness.js";

describeStoreConformance({
  name: "sqs (standard queue, emulated)",
  capabilities: sqsStandardCapabilities,
  harness: () => createSqsHarness({ fifo: false }),
});

describeStoreConformance({
  name: "sqs-fifo (emulated)",
  capabilities: sqsFifoCapabilities,
  harness: () => createSqsHarness({ fifo: true }),
});
