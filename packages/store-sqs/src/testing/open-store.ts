import type { SQSClientConfig } from "@aws-sdk/client-sqs";
import { defineStore } from "@outbox/core";
import type { StoreProcessModule } from "@outbox/store-conformance";
import { createSqsDriver } from "../create-sqs-store.js";
import type { OutboxQueues } from "../setup/queue-checks.js";

/** Opens the outbox in another process. */
export const openStore: StoreProcessModule["openStore"] = async (args, { wrapDriver }) => {
  const { queues, clientConfig } = args as {
    readonly queues: OutboxQueues;
    readonly clientConfig: SQSClientConfig;
  };
  const driver = createSqsDriver({
    queues,
    clientConfig,
    longPollMs: 0,
    accept: ["visibility-timeout"],
  });
  return defineStore(wrapDriver === undefined ? driver : wrapDriver(driver));
};
