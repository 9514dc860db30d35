import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTemporarySqs } from "./start-temporary-sqs.js";
import type { TemporarySqs } from "./temporary-sqs.js";

let sqs: TemporarySqs;

beforeAll(async () => {
  sqs = await startTemporarySqs();
});

afterAll(() => sqs.stop());

const send = (server: TemporarySqs, QueueUrl: string, body: string, group?: string) =>
  server.client.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: body,
      ...(group && { MessageGroupId: group, MessageDeduplicationId: body }),
    }),
  );

const receive = async (server: TemporarySqs, QueueUrl: string, attempt?: string) => {
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    VisibilityTimeout: 60,
    ReceiveRequestAttemptId: attempt,
  });
  return (await server.client.send(command)).Messages ?? [];
};

test("its time passes when told to, for messages and in the Date header, and nowhere else", async () => {
  const other = await sqs.openAnother();
  const [here, there] = [await sqs.createQueue("time"), await other.createQueue("time")];
  await send(sqs, here, "a");
  await send(other, there, "b");
  expect(await receive(sqs, here)).toHaveLength(1);
  expect(await receive(other, there)).toHaveLength(1);
  await sqs.advance(61_000);
  expect(await receive(sqs, here)).toHaveLength(1);
  expect(await receive(other, there)).toEqual([]);

  let date = "";
  const command = new GetQueueAttributesCommand({ QueueUrl: here, AttributeNames: ["QueueArn"] });
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      date = (result.response as { headers: Record<string, string> }).headers["date"] ?? "";
      return result;
    },
    { step: "deserialize" },
  );
  await sqs.client.send(command);
  expect(Math.abs(Date.parse(date) - (await sqs.now()))).toBeLessThan(5_000);
  expect((await sqs.now()) - (await other.now())).toBeGreaterThan(60_000);
  await other.stop();
});

test("a FIFO queue gives several messages of a group at once, in order, and holds the group", async () => {
  const queue = await sqs.createQueue("group.fifo");
  for (const body of ["a1", "a2", "a3"]) await send(sqs, queue, body, "a");
  const received = await receive(sqs, queue);
  expect(received.map(({ Body }) => Body)).toEqual(["a1", "a2", "a3"]);
  await send(sqs, queue, "a4", "a");
  await sqs.client.send(
    new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle: received[0]?.ReceiptHandle }),
  );
  expect(await receive(sqs, queue)).toEqual([]);
  await sqs.advance(61_000);
  expect((await receive(sqs, queue)).map(({ Body }) => Body)).toEqual(["a2", "a3", "a4"]);
});

test("a receive that is repeated under its attempt id gives the same messages", async () => {
  const queue = await sqs.createQueue("attempt.fifo");
  await send(sqs, queue, "a1", "a");
  const first = await receive(sqs, queue, "attempt-1");
  expect(await receive(sqs, queue, "attempt-2")).toEqual([]);
  expect(await receive(sqs, queue, "attempt-1")).toEqual(first);
});

test("queues can be looked into without receiving", async () => {
  const queue = await sqs.createQueue("look");
  await send(sqs, queue, "a");
  await send(sqs, queue, "b");
  await sqs.client.send(new ReceiveMessageCommand({ QueueUrl: queue, VisibilityTimeout: 60 }));
  const { ready, inflight } = await sqs.inspect("look");
  expect(ready.map(({ body }) => body)).toEqual(["b"]);
  expect(inflight.map(({ message }) => message.body)).toEqual(["a"]);
  await expect(sqs.inspect("nothing")).rejects.toThrow("there is no queue nothing");
});
