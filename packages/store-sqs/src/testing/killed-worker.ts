import { SQSClient, type SQSClientConfig } from "@aws-sdk/client-sqs";
import { createSqsStore } from "../create-sqs-store.js";
import type { OutboxQueues } from "../setup/queue-checks.js";

/** Claims everything, lets it fail, and is killed once the new copies are sent. */
process.once("message", async (message) => {
  const { queues, clientConfig } = message as {
    readonly queues: OutboxQueues;
    readonly clientConfig: SQSClientConfig;
  };
  const client = new SQSClient(clientConfig);
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      if (context["commandName"] === "SendMessageBatchCommand")
        process.kill(process.pid, "SIGKILL");
      return result;
    },
    { step: "initialize" },
  );
  const store = createSqsStore({ queues, client });
  const { claims } = await store.claim({ workerId: "killed" });
  await store.completeClaims(
    claims.map((claim) => ({
      claim,
      kind: "failed",
      error: { code: "http.503", message: "unavailable", isRetryable: true },
      retry: { retryInMs: 1_000 },
    })),
  );
});
