import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { PointFault } from "./point-fault.js";
import type {
  JsonStoreOptions,
  JsonWorkerOptions,
  NumberedCommand,
  WorkerAnswer,
  WorkerCommand,
  WorkerMessage,
  WorkerOrder,
} from "./worker-messages.js";

const program = fileURLToPath(new URL("./worker-program.ts", import.meta.url));
// By path: the process that starts workers may be another package's, without tsx.
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const skewedClock = new URL("./skewed-clock.ts", import.meta.url).href;

export interface WorkerProcessOptions {
  /** PostgreSQL, or a proxy before it. */
  readonly databaseUrl: string;
  /** Where emissions go; `null`: nowhere. */
  readonly receiverUrl: string | null;
  /** @defaultValue `worker-<n>` */
  readonly workerId?: string | undefined;
  readonly worker?: JsonWorkerOptions | undefined;
  readonly store?: JsonStoreOptions | undefined;
  readonly faults?: readonly PointFault[] | undefined;
  readonly observerThrows?: boolean | undefined;
  /** How far the wall clock of the process is off, in ms. */
  readonly clockSkewMs?: number | undefined;
  /** Collect garbage before heaps are measured. */
  readonly exposeGc?: boolean | undefined;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to standard output and error. */
  readonly output: string;
}

type PointMessage = Extract<WorkerMessage, { readonly kind: "point" }>;

/** A worker in a process of its own. */
export interface WorkerProcess extends AsyncDisposable {
  readonly workerId: string;
  readonly pid: number;
  /** What it announced, in order. */
  readonly points: readonly PointMessage[];
  /** Resolves once the worker was started; rejects if the process ended before. */
  readonly started: Promise<void>;
  /** Resolves however it ends. */
  readonly ended: Promise<ProcessEnd>;
  /** `null` while it runs. */
  readonly end: ProcessEnd | null;
  /** Gives a command and waits for the answer; rejects if the process ends before that. */
  command(command: WorkerCommand): Promise<WorkerAnswer>;
  /** How it is. */
  ask(): Promise<WorkerAnswer>;
  /** Stops the worker, and waits until the process has ended by itself. */
  stop(): Promise<{ readonly answer: WorkerAnswer; readonly end: ProcessEnd }>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: not an instruction more, until `resume`. */
  suspend(): void;
  /** SIGCONT. */
  resume(): void;
}

let count = 0;

/** Starts a worker in a process of its own, which ends with this one at the latest. */
export function startWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  const { clockSkewMs = 0, exposeGc = false } = options;
  const order: WorkerOrder = {
    workerId: options.workerId ?? `worker-${++count}`,
    databaseUrl: options.databaseUrl,
    receiverUrl: options.receiverUrl,
    worker: options.worker ?? {},
    store: options.store ?? {},
    faults: options.faults ?? [],
    observerThrows: options.observerThrows ?? false,
  };
  const child = fork(program, [JSON.stringify(order)], {
    execArgv: [
      ...(exposeGc ? ["--expose-gc"] : []),
      "--conditions=@outbox/source",
      `--import=${tsx}`,
      ...(clockSkewMs === 0 ? [] : [`--import=${skewedClock}`]),
    ],
    env: { ...process.env, OUTBOX_CLOCK_SKEW_MS: String(clockSkewMs) },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  return new ForkedWorker(order.workerId, child);
}

interface Waiter {
  resolve(answer: WorkerAnswer): void;
  reject(error: Error): void;
}

class ForkedWorker implements WorkerProcess {
  readonly workerId: string;
  readonly points: PointMessage[] = [];
  readonly started: Promise<void>;
  readonly ended: Promise<ProcessEnd>;
  end: ProcessEnd | null = null;
  readonly #child: ChildProcess;
  readonly #waiters = new Map<number, Waiter>();
  #lastId = 0;
  #output = "";

  constructor(workerId: string, child: ChildProcess) {
    this.workerId = workerId;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-4_000);
      });
    }
    // A suspended process would not notice that its parent has gone.
    const killWithParent = () => child.kill("SIGKILL");
    process.once("exit", killWithParent);
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        process.off("exit", killWithParent);
        this.end = { code, signal, output: this.#output };
        resolve(this.end);
      });
    });
    this.started = new Promise((resolve, reject) => {
      child.on("message", (message: WorkerMessage) => {
        if (message.kind === "started") resolve();
        else if (message.kind === "point") this.points.push(message);
        else this.#waiters.get(message.id)?.resolve(message.answer);
      });
      void this.ended.then(() => reject(this.#gone("start")));
    });
    this.started.catch(() => undefined);
    void this.ended.then(() => {
      for (const { reject } of this.#waiters.values()) reject(this.#gone("answer"));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async command(command: WorkerCommand): Promise<WorkerAnswer> {
    await this.started;
    const id = ++this.#lastId;
    try {
      return await new Promise<WorkerAnswer>((resolve, reject) => {
        this.#waiters.set(id, { resolve, reject });
        if (!this.#child.connected) reject(this.#gone("answer"));
        else this.#child.send({ id, command } satisfies NumberedCommand);
      });
    } finally {
      this.#waiters.delete(id);
    }
  }

  ask(): Promise<WorkerAnswer> {
    return this.command({ kind: "ask" });
  }

  async stop() {
    const answer = await this.command({ kind: "end" });
    return { answer, end: await this.ended };
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  suspend(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #gone(what: string): Error {
    return new Error(`${this.workerId} ended before its ${what}. Its output:\n${this.#output}`);
  }
}
