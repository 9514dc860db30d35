import { SQSClient } from "@aws-sdk/client-sqs";
import { defineStore } from "@outbox/core";
import type { CreateOutboxOptions, OutboxUnderTest, StoreHarness } from "@outbox/store-conformance";
import { startTemporarySqs, type TemporarySqs } from "@outbox/temporary-sqs";
import { createSqsDriver } from "../create-sqs-store.js";
import { ClaimLedger } from "./claim-ledger.js";
import { Disconnection } from "./disconnection.js";
import { createOutboxOnEmulator } from "./outbox-on-emulator.js";
import { sqsRawProbes } from "./sqs-raw-probes.js";

/** SQS under the kit: the emulator, whose clock can be moved. */
export async function createSqsHarness(options: { readonly fifo: boolean }): Promise<StoreHarness> {
  const sqs = await startTemporarySqs();
  return {
    // Each outbox has a clock of its own.
    createOutbox: async (given) => createOutbox(await sqs.openAnother(), options.fifo, given),
    close: () => sqs.stop(),
  };
}

async function createOutbox(
  sqs: TemporarySqs,
  fifo: boolean,
  { wrapDriver }: CreateOutboxOptions = {},
): Promise<OutboxUnderTest> {
  const outbox = await createOutboxOnEmulator(sqs, { fifo });
  const ledger = new ClaimLedger();
  const opened: { close(): Promise<void> }[] = [];
  const clients: SQSClient[] = [];
  const open = (disconnection?: Disconnection) => {
    const client = new SQSClient({ ...sqs.clientConfig, maxAttempts: 1 });
    disconnection?.applyTo(client);
    clients.push(client);
    const driver = createSqsDriver({
      queues: outbox.queues,
      client,
      longPollMs: 0,
      accept: ["visibility-timeout"],
    });
    const watched = ledger.watch(driver);
    const store = defineStore(wrapDriver === undefined ? watched : wrapDriver(watched));
    opened.push(store);
    return store;
  };
  const disconnection = new Disconnection();
  return {
    store: open(disconnection),
    openStore: async () => open(),
    raw: sqsRawProbes(sqs, outbox, ledger),
    time: { mode: "clock", advance: (ms) => sqs.advance(ms) },
    connections: {
      disconnect: async () => disconnection.begin(),
      reconnect: async () => disconnection.end(),
    },
    processes: {
      module: new URL("./open-store.ts", import.meta.url).href,
      args: { queues: outbox.queues, clientConfig: sqs.clientConfig },
      execArgv: ["--conditions=@outbox/source", "--import", "tsx"],
    },
    close: async () => {
      for (const store of opened) await store.close();
      for (const client of clients) client.destroy();
      await sqs.stop();
    },
  };
}
