import { SQSClient } from "@aws-sdk/client-sqs";
import type { OutboxClaim } from "@outbox/core";
import type { QueuedMessage, TemporarySqs } from "@outbox/temporary-sqs";
import { createSqsStore, type SqsStore, type SqsStoreOptions } from "../create-sqs-store.js";
import { readSnapshot } from "../snapshot/read-snapshot.js";
import type { Snapshot } from "../snapshot/snapshot.js";
import { Faults } from "./faults.js";
import { createOutboxOnEmulator, type OutboxOnEmulator } from "./outbox-on-emulator.js";

/** A store on queues of its own, with faults in between. */
export interface OpenOutbox extends AsyncDisposable {
  readonly sqs: TemporarySqs;
  readonly outbox: OutboxOnEmulator;
  readonly store: SqsStore;
  readonly faults: Faults;
  /** Another store on the same queues, with faults of its own. */
  openStore(options?: Partial<SqsStoreOptions>): {
    readonly store: SqsStore;
    readonly faults: Faults;
  };
  claim(
    maxCount?: number,
    options?: { readonly leaseDurationMs?: number; readonly claimId?: string },
  ): Promise<readonly OutboxClaim[]>;
  claimOne(): Promise<OutboxClaim>;
  pending(): Promise<readonly SeenMessage[]>;
  deadLetter(): Promise<readonly SeenMessage[]>;
}

/** A message with its body read. */
export interface SeenMessage extends QueuedMessage {
  readonly snapshot: Snapshot | null;
  readonly state: "ready" | "delayed" | "in-flight";
}

export async function openOutbox(
  server: TemporarySqs,
  options: Partial<SqsStoreOptions> & {
    readonly fifo?: boolean;
    readonly attributes?: Readonly<Record<string, string>>;
    readonly deadLetterAttributes?: Readonly<Record<string, string>>;
  } = {},
): Promise<OpenOutbox> {
  const { fifo = false, attributes = {}, deadLetterAttributes = {}, ...storeOptions } = options;
  const sqs = await server.openAnother();
  const outbox = await createOutboxOnEmulator(sqs, { fifo, attributes, deadLetterAttributes });
  const opened: SqsStore[] = [];
  const clients: SQSClient[] = [];
  const openStore: OpenOutbox["openStore"] = (more = {}) => {
    const faults = new Faults();
    const client = faults.applyTo(new SQSClient({ ...sqs.clientConfig, maxAttempts: 1 }));
    clients.push(client);
    const store = createSqsStore({
      queues: outbox.queues,
      client,
      longPollMs: 0,
      accept: ["visibility-timeout"],
      ...storeOptions,
      ...more,
    });
    opened.push(store);
    return { store, faults };
  };
  const { store, faults } = openStore();
  const claim: OpenOutbox["claim"] = async (maxCount = 100, more = {}) =>
    (await store.claim({ workerId: "worker", maxCount, ...more })).claims;
  return {
    sqs,
    outbox,
    store,
    faults,
    openStore,
    claim,
    claimOne: async () => {
      const [only, ...others] = await claim();
      if (only !== undefined && others.length === 0) return only;
      throw new Error(`${others.length + (only === undefined ? 0 : 1)} entries claimed, not one`);
    },
    pending: () => look(sqs, outbox.pendingName),
    deadLetter: () => look(sqs, outbox.deadLetterName),
    [Symbol.asyncDispose]: async () => {
      for (const one of opened) await one.close();
      for (const one of clients) one.destroy();
      await sqs.stop();
    },
  };
}

async function look(sqs: TemporarySqs, queueName: string): Promise<readonly SeenMessage[]> {
  const { ready, delayed, inflight } = await sqs.inspect(queueName);
  const seen = (message: QueuedMessage, state: SeenMessage["state"]): SeenMessage => {
    const read = readSnapshot(message.body);
    return { ...message, state, snapshot: read.kind === "snapshot" ? read.snapshot : null };
  };
  return [
    ...ready.map((message) => seen(message, "ready")),
    ...delayed.map((message) => seen(message, "delayed")),
    ...inflight.map(({ message }) => seen(message, "in-flight")),
  ];
}
