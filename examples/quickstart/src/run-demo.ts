import { setTimeout as delay } from "node:timers/promises";
import { createPostgresStore, type PostgresStore } from "@outbox/store-postgres";
import { startTemporaryPostgres } from "@outbox/temporary-postgres";
import { createDatabases, type Databases } from "./databases.js";
import type { DemoOptions } from "./demo-options.js";
import { type DemoProcess, DemoProcesses } from "./demo-processes.js";
import { type DemoState, describeState, openCount, summarizeState } from "./demo-state.js";
import { killWorker } from "./kill-worker.js";
import { drawUpLedger, type KillFacts, type Ledger } from "./ledger.js";
import type { WorkerFault } from "./messages.js";
import type { ShopEvents } from "./place-order.js";
import type { Progress } from "./progress.js";
import { readEntries } from "./read-entries.js";
import { createReceiverLedger, type ReceiverLedger } from "./receiver-ledger.js";

const lookIntervalMs = 200;

/** Of all producers together; the workers can do more, also when one of them is gone. */
const ordersPerSecond = 120;

/** How long nothing may be delivered before the demo gives up and draws up its ledger, in ms. */
const stalledAfterMs = 30_000;

/** Runs everything and resolves with the ledger; whatever happens, nothing is left behind. */
export async function runDemo(
  options: DemoOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<Ledger> {
  progress.log("Starting PostgreSQL …");
  await using postgres = await startTemporaryPostgres();
  signal.throwIfAborted();
  await using databases = await createDatabases(postgres);
  await using processes = new DemoProcesses((line) => progress.log(line));
  const scenario = new Scenario(options, progress, signal, databases, processes);
  return await Promise.race([scenario.play(), processes.failure, rejectWhenAborted(signal)]);
}

/** One run of the demo. */
class Scenario {
  readonly #options: DemoOptions;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;
  readonly #databases: Databases;
  readonly #processes: DemoProcesses;
  readonly #store: PostgresStore<ShopEvents>;
  readonly #receiverLedger: ReceiverLedger;
  readonly #startedAt = performance.now();

  #committed = 0;
  readonly #rolledBackOrderIds: string[] = [];
  readonly #workerFaults: WorkerFault[] = [];
  #workers: readonly DemoProcess[] = [];
  #killed: DemoProcess | null = null;
  #kill: Promise<KillFacts> | null = null;

  constructor(
    options: DemoOptions,
    progress: Progress,
    signal: AbortSignal,
    databases: Databases,
    processes: DemoProcesses,
  ) {
    this.#options = options;
    this.#progress = progress;
    this.#signal = signal;
    this.#databases = databases;
    this.#processes = processes;
    this.#store = createPostgresStore<ShopEvents>({ pool: databases.shop });
    this.#receiverLedger = createReceiverLedger(databases.receiver);
  }

  async play(): Promise<Ledger> {
    await this.#store.migrate();
    const receiver = await this.#startReceiver();
    this.#workers = this.#startWorkers(receiver.url);
    const producers = this.#startProducers();
    let isProducing = true;
    const produced = Promise.all(producers.map(({ ended }) => ended)).then(() => {
      isProducing = false;
    });
    await this.#watchUntilDelivered(() => isProducing);
    await produced;
    const kill = await this.#kill;
    this.#progress.clear();
    await Promise.all(this.#survivors().map((worker) => worker.stop()));
    await receiver.process.stop();
    return drawUpLedger({
      committedOrderIds: await this.#readOrderIds(),
      rolledBackOrderIds: this.#rolledBackOrderIds,
      entries: (await readEntries(this.#store, { all: true })).map(({ envelope, retryCount }) => ({
        envelopeId: envelope.envelopeId,
        retryCount,
      })),
      requests: await this.#receiverLedger.requests(),
      workerFaults: this.#workerFaults,
      kill,
    });
  }

  #startReceiver(): Promise<{ readonly process: DemoProcess; readonly url: string }> {
    return new Promise((resolve) => {
      const process = this.#processes.start({
        name: "receiver",
        program: new URL("./receiver.ts", import.meta.url),
        environment: { RECEIVER_DATABASE_URL: this.#databases.receiverUrl },
        onMessage: (message) => {
          if (message.kind === "listening") resolve({ process, url: message.url });
        },
      });
    });
  }

  #startWorkers(receiverUrl: string): readonly DemoProcess[] {
    return namesOf("worker", this.#options.workers).map((name) =>
      this.#processes.start({
        name,
        program: new URL("./worker.ts", import.meta.url),
        environment: {
          WORKER_ID: name,
          DATABASE_URL: this.#databases.shopUrl,
          RECEIVER_URL: receiverUrl,
          LEASE_DURATION_MS: String(this.#options.leaseDurationMs),
        },
        onMessage: (message) => {
          if (message.kind === "fault") this.#workerFaults.push(message.fault);
        },
      }),
    );
  }

  #startProducers(): readonly DemoProcess[] {
    const { orders, producers } = this.#options;
    return namesOf("producer", producers).map((name, index) =>
      this.#processes.start({
        name,
        program: new URL("./producer.ts", import.meta.url),
        environment: {
          PRODUCER_NAME: name,
          DATABASE_URL: this.#databases.shopUrl,
          ORDER_COUNT: String(Math.floor((orders + index) / producers)),
          ORDERS_PER_SECOND: String(ordersPerSecond / producers),
        },
        onMessage: (message) => {
          if (message.kind !== "order") return;
          if (message.committed) this.#committed += 1;
          else this.#rolledBackOrderIds.push(message.orderId);
        },
      }),
    );
  }

  async #watchUntilDelivered(isProducing: () => boolean): Promise<void> {
    let delivered = 0;
    let deliveredAt = performance.now();
    for (;;) {
      const state = await this.#readState();
      this.#progress.update(describeState(state), summarizeState(state));
      if (this.#kill === null) this.#killHalfWay(state);
      if (state.outbox.byStatus.delivered > delivered) {
        delivered = state.outbox.byStatus.delivered;
        deliveredAt = performance.now();
      }
      if (!isProducing() && openCount(state) === 0) return;
      if (performance.now() - deliveredAt > stalledAfterMs) return;
      await delay(lookIntervalMs, undefined, { signal: this.#signal });
    }
  }

  /** About half-way, as soon as some worker holds a few claims, it dies. */
  #killHalfWay({ outbox }: DemoState): void {
    const part = outbox.byStatus.delivered / this.#options.orders;
    if (part < 0.4) return;
    const enough = part < 0.6 ? 6 : 1;
    // The one that holds most comes first.
    const [holder] = outbox.leasedByOwner;
    if (holder === undefined || holder.count < enough) return;
    const victim = this.#workers.find(({ name }) => name === holder.owner);
    if (!victim) return;
    this.#killed = victim;
    this.#kill = killWorker(
      this.#store,
      victim,
      this.#options.leaseDurationMs,
      this.#signal,
      (heldCount) => {
        this.#progress.log(
          `${victim.name} was killed while it held ${heldCount} claims. Until their leases expire they are nobody's.`,
        );
      },
    );
    // Whoever waits for it is told; until then it must not end the process.
    this.#kill.catch(() => undefined);
  }

  async #readState(): Promise<DemoState> {
    const [outbox, receiver] = await Promise.all([
      this.#store.stats({ exact: true }),
      this.#receiverLedger.counts(),
    ]);
    return {
      elapsedMs: performance.now() - this.#startedAt,
      orderCount: this.#options.orders,
      committed: this.#committed,
      rolledBack: this.#rolledBackOrderIds.length,
      outbox,
      receiver,
      workerNames: this.#workers.map(({ name }) => name),
      killedWorker: this.#killed?.name ?? null,
    };
  }

  #survivors(): readonly DemoProcess[] {
    return this.#workers.filter((worker) => worker !== this.#killed);
  }

  async #readOrderIds(): Promise<readonly string[]> {
    const { rows } = await this.#databases.shop.query<{ id: string }>("select id from orders");
    return rows.map(({ id }) => id);
  }
}

function namesOf(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${index + 1}`);
}

function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
