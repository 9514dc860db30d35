import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { QueueContents, TemporarySqs } from "./temporary-sqs.js";

interface Answer {
  readonly id: number;
  readonly now: number;
}

/**
 * Starts the emulator on a free port of this machine, in a thread of this process: it ends with the
 * process at the latest.
 */
export async function startTemporarySqs(): Promise<TemporarySqs> {
  const thread = new Worker(new URL("./emulator.js", import.meta.url));
  const [{ endpoint }] = (await once(thread, "message")) as [{ readonly endpoint: string }];
  thread.unref();
  const clientConfig = {
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "temporary", secretAccessKey: "temporary" },
    // The emulator's queue URLs name a host that need not resolve.
    useQueueUrlAsEndpoint: false,
  };
  const client = new SQSClient(clientConfig);
  const ask = questions(thread);
  const stop = async () => {
    client.destroy();
    await ask("stop");
    await thread.terminate();
  };
  return {
    clientConfig,
    client,
    createQueue: async (QueueName, attributes = {}) => {
      const command = new CreateQueueCommand({ QueueName, Attributes: { ...attributes } });
      const { QueueUrl = "" } = await client.send(command);
      return QueueUrl;
    },
    advance: async (ms) => {
      await ask("advance", ms);
    },
    now: () => ask("now"),
    inspect: async (queueName) => {
      const response = await fetch(`${endpoint}/_fauxqs/queues/${encodeURIComponent(queueName)}`);
      if (!response.ok) throw new Error(`there is no queue ${queueName}`);
      const { messages } = (await response.json()) as { readonly messages: QueueContents };
      return messages;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Sends questions to the thread and gives each its answer. */
function questions(thread: Worker): (command: string, ms?: number) => Promise<number> {
  let lastId = 0;
  const waiting = new Map<number, (now: number) => void>();
  thread.on("message", ({ id, now }: Answer) => {
    waiting.get(id)?.(now);
    waiting.delete(id);
    if (waiting.size === 0) thread.unref();
  });
  return (command, ms = 0) =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      // Nothing but the answer may keep this process going.
      thread.ref();
      thread.postMessage({ id: lastId, command, ms });
    });
}
