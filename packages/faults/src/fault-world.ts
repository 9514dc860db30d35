import { createDatabase, dropDatabase } from "@outbox/temporary-postgres";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import { onTestFinished } from "vitest";
import {
  type EmissionReceiver,
  type ReceivedEmission,
  type ReceiverAnswer,
  startEmissionReceiver,
} from "./emission-receiver.js";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.js";
import { createTestOutbox, type TestOutbox } from "./test-outbox.js";
import {
  startWorkerProcess,
  type WorkerProcess,
  type WorkerProcessOptions,
} from "./worker/start-worker-process.js";
import { type SupervisedWorker, superviseWorker } from "./worker/supervise-worker.js";

type WorkerOptions = Partial<WorkerProcessOptions>;

/** An outbox, a receiver and a proxy of one test, and its processes; all gone with the test. */
export interface FaultWorld {
  readonly outbox: TestOutbox;
  readonly receiver: EmissionReceiver;
  readonly proxy: FaultProxy;
  /** Starts a worker that reaches the database by way of the proxy. */
  startWorker(options?: WorkerOptions): WorkerProcess;
  superviseWorker(options?: WorkerOptions): SupervisedWorker;
}

/** To be called inside a test. */
export async function createFaultWorld(
  answer?: (emission: ReceivedEmission) => ReceiverAnswer | Promise<ReceiverAnswer>,
): Promise<FaultWorld> {
  const [server] = testPostgresServers();
  const databaseUrl = await createDatabase(server.url);
  const outbox = await createTestOutbox(databaseUrl);
  const receiver = await startEmissionReceiver(answer);
  const proxy = await startFaultProxy({ target: databaseUrl });
  const workers: AsyncDisposable[] = [];
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
    await Promise.all([proxy.close(), receiver.close(), outbox.close()]);
    await dropDatabase(server.url, databaseUrl);
  });
  const defaults = { databaseUrl: proxy.url, receiverUrl: receiver.url };
  const kept = <Worker extends AsyncDisposable>(worker: Worker): Worker => {
    workers.push(worker);
    return worker;
  };
  return {
    outbox,
    receiver,
    proxy,
    startWorker: (options) => kept(startWorkerProcess({ ...defaults, ...options })),
    superviseWorker: (options) => kept(superviseWorker({ ...defaults, ...options })),
  };
}
