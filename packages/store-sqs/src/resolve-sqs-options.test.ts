import { SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { createSqsStore, type SqsStoreOptions } from "./create-sqs-store.js";

const url = (name: string) => `https://sqs.us-east-1.amazonaws.com/123456789012/${name}`;
const queues = { pending: url("outbox"), deadLetter: url("outbox-dead-letter") };
const client = new SQSClient({ region: "us-east-1" });

test.each<[string, unknown, string]>([
  ["nothing", undefined, "options"],
  ["an unknown option", { queues, queueUrl: "x" }, "options.queueUrl"],
  ["no queues", {}, "options.queues.pending"],
  ["a name for a URL", { queues: { ...queues, pending: "outbox" } }, "options.queues.pending"],
  [
    "one queue twice",
    { queues: { ...queues, deadLetter: queues.pending } },
    "options.queues.deadLetter",
  ],
  ["queues of two kinds", { queues: { ...queues, pending: url("outbox.fifo") } }, "options.queues"],
  ["a client that is none", { queues, client: {} }, "options.client"],
  ["a client and settings for one", { queues, client, clientConfig: {} }, "options.clientConfig"],
  ["a client for receives alone", { queues, receiveClient: client }, "options.receiveClient"],
  ["a poll longer than SQS's", { queues, longPollMs: 20_001 }, "options.longPollMs"],
  ["no time for a reply", { queues, callTimeoutMs: 0 }, "options.callTimeoutMs"],
  [
    "a retention beyond SQS's",
    { queues, deadLetterRetentionMs: 2e9 },
    "options.deadLetterRetentionMs",
  ],
  ["an unknown deviation", { queues, accept: ["everything"] }, "options.accept"],
  [
    "no count",
    { queues, maxReceiveCount: { count: 0, isSuspended: () => false } },
    "options.maxReceiveCount.count",
  ],
  [
    "no word on outages",
    { queues, maxReceiveCount: { count: 100 } },
    "options.maxReceiveCount.isSuspended",
  ],
])("%s is refused by name", (_what, options, argument) => {
  expect(() => createSqsStore(options as SqsStoreOptions)).toThrow(
    expect.objectContaining({ code: "outbox.invalid_argument", argument }),
  );
});

test("a store sends nothing before its first call, and declares what its queues can do", async () => {
  const standard = createSqsStore({ queues, clientConfig: { region: "us-east-1" } });
  expect(standard.capabilities).toMatchObject({ perKeyOrder: "none", maxDelayMs: null });
  const fifo = createSqsStore({
    queues: { pending: url("o.fifo"), deadLetter: url("d.fifo") },
    clientConfig: { region: "us-east-1" },
    deadLetterRetentionMs: 86_400_000,
  });
  expect(fifo.capabilities).toMatchObject({
    perKeyOrder: "send-order",
    maxDelayMs: 0,
    maxParkedAgeMs: 86_400_000,
  });
  await standard.close();
  await fifo.close();
});
