import { describeStoreConformance } from "@outbox/store-conformance/vitest";
import { sqsFifoCapabilities, sqsStandardCapabilities } from "./capabilities.js";
import { createSqsHarness } from "./testing/create-sqs-harness.js";

const noEndOfLease =
  "SQS does not say when an earlier receive's visibility timeout ended, so an abandoned entry counts as due since its own due time";

const keptInPlace =
  "a FIFO message keeps its place and therefore its body: the failure, deferral or metadata is known to the worker that wrote it, and its tests look there";

describeStoreConformance({
  name: "sqs (standard queue, emulated)",
  capabilities: sqsStandardCapabilities,
  harness: () => createSqsHarness({ fifo: false }),
  skip: { "A4-due-since": noEndOfLease },
});

describeStoreConformance({
  name: "sqs-fifo (emulated)",
  capabilities: sqsFifoCapabilities,
  harness: () => createSqsHarness({ fifo: true }),
  skip: {
    "contract-save-writes-no-more": keptInPlace,
    "A4-due-since": noEndOfLease,
    "A8-every-transition-clears": keptInPlace,
    "A8-whole-batch-is-applied": keptInPlace,
    "A8-what-a-transition-writes": keptInPlace,
    "A11-every-path-keeps-the-entry": keptInPlace,
    "A13-error-texts": keptInPlace,
    "A13-failures-are-bounded": keptInPlace,
    "A14-parked-or-retried": keptInPlace,
  },
});
