import { Worker } from "node:worker_threads";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { QueueContents, TemporarySqs } from "./temporary-sqs.js";

/** Asks the emulators' thread, and gets its answer. */
type Ask = (command: string, question?: object) => Promise<unknown>;

/**
 * Starts the emulator on a free port of this machine, in a thread of this process: it ends with the
 * process at the latest.
 */
export async function startTemporarySqs(): Promise<TemporarySqs> {
  const thread = new Worker(new URL("./emulator.js", import.meta.url));
  const ask = questions(thread);
  return openEmulator(ask, async () => {
    await thread.terminate();
  });
}

async function openEmulator(ask: Ask, afterStop: () => Promise<void>): Promise<TemporarySqs> {
  const endpoint = String(await ask("open"));
  const clientConfig = {
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "temporary", secretAccessKey: "temporary" },
    // The emulator's queue URLs name a host that need not resolve.
    useQueueUrlAsEndpoint: false,
  };
  const client = new SQSClient(clientConfig);
  const stop = async () => {
    client.destroy();
    await ask("close", { endpoint });
    await afterStop();
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
      await ask("advance", { endpoint, ms });
    },
    now: async () => Number(await ask("now", { endpoint })),
    inspect: async (queueName) => {
      const response = await fetch(`${endpoint}/_fauxqs/queues/${encodeURIComponent(queueName)}`);
      if (!response.ok) throw new Error(`there is no queue ${queueName}`);
      const { messages } = (await response.json()) as { readonly messages: QueueContents };
      return messages;
    },
    openAnother: () => openEmulator(ask, async () => {}),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function questions(thread: Worker): Ask {
  let lastId = 0;
  const waiting = new Map<number, (answer: unknown) => void>();
  thread.on("message", ({ id, answer }: { readonly id: number; readonly answer: unknown }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
    if (waiting.size === 0) thread.unref();
  });
  return (command, question = {}) =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      // Nothing but the answer may keep this process going.
      thread.ref();
      thread.postMessage({ ...question, id: lastId, command });
    });
}
