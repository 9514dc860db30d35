// The script of a worker process: started by `startWorkerProcess`, obeys over IPC.
import { createHttpEmitter, createWorker, type Emit, type StopReport } from "@outbox/core";
import { createPostgresStore } from "@outbox/store-postgres";
import { blockEventLoop } from "./block-event-loop.js";
import { misbehaving, sendNowhere } from "./entry-behaviours.js";
import { EventCounts } from "./event-counts.js";
import { PointFaults } from "./point-faults.js";
import { ResourceWatch } from "./process-resources.js";
import { storeWithPoints } from "./store-with-points.js";
import type {
  NumberedCommand,
  WorkerAnswer,
  WorkerCommand,
  WorkerMessage,
  WorkerOrder,
} from "./worker-messages.js";

const order = JSON.parse(process.argv[2] ?? "") as WorkerOrder;
const tell = (message: WorkerMessage) => void process.send?.(message);
const points = new PointFaults(order.faults, tell);
const events = new EventCounts();
const resources = new ResourceWatch();

const { connectionTimeoutMs, ...storeOptions } = order.store;
const store = createPostgresStore({
  connection: {
    connectionString: order.databaseUrl,
    ...(connectionTimeoutMs === undefined ? {} : { connectionTimeoutMillis: connectionTimeoutMs }),
  },
  ...storeOptions,
});

function createSender(url: string): Emit {
  const emitter = createHttpEmitter({
    url,
    headers: (_, { entry, claim }) => ({
      "X-Worker-Id": order.workerId,
      "X-Entry-Id": entry.entryId,
      "X-Claim-Token": claim?.claimToken ?? "",
    }),
  });
  return (envelope, context) => emitter.emit(envelope, context);
}

const send = misbehaving(
  order.receiverUrl === null ? sendNowhere : createSender(order.receiverUrl),
);

const worker = createWorker({
  ...order.worker,
  workerId: order.workerId,
  store: storeWithPoints(store, points),
  emitter: async (envelope, context) => {
    resources.note(context.signal);
    points.pass("emitting", [context.entry.entryId]);
    const result = await send(envelope, context);
    points.pass("emitted", [context.entry.entryId]);
    return result;
  },
  observer: (event) => {
    events.note(event);
    if (order.observerThrows) throw new Error("this observer throws");
  },
});

const dieWithParent = () => process.exit(1);

async function obey(command: WorkerCommand): Promise<StopReport | null> {
  switch (command.kind) {
    case "start":
    case "pause":
    case "resume":
      worker[command.kind]();
      return null;
    case "stall":
      blockEventLoop(command.ms);
      return null;
    case "stop":
    case "end": {
      const report = await worker.stop();
      if (command.kind === "end") await store.close();
      return report;
    }
    case "ask":
      return null;
  }
}

async function answer({ id, command }: NumberedCommand): Promise<void> {
  const stop = await obey(command);
  const reply: WorkerAnswer = {
    health: worker.health(),
    events: events.counts,
    resources: resources.measure(),
    stop,
  };
  process.send?.({ kind: "answer", id, answer: reply } satisfies WorkerMessage, () => {
    if (command.kind !== "end") return;
    // The channel is all that this script holds; what else keeps the process alive is a leak.
    process.off("disconnect", dieWithParent);
    process.disconnect();
  });
}

process.once("disconnect", dieWithParent);
process.on("message", (command: NumberedCommand) => void answer(command));
worker.start();
tell({ kind: "started" });
