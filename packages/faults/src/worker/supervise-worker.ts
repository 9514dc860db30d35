import {
  startWorkerProcess,
  type WorkerProcess,
  type WorkerProcessOptions,
} from "./start-worker-process.js";

/** A worker that is started again whenever it dies. */
export interface SupervisedWorker extends AsyncDisposable {
  /** The process of this moment; it may be dead already. */
  readonly current: WorkerProcess;
  /** How often it died. */
  readonly crashes: number;
  /** Rejects when it ended in another way than by a signal, or died too often. */
  readonly failure: Promise<never>;
  /** Stops the worker in good order, and does not start it again. */
  stop(): ReturnType<WorkerProcess["stop"]>;
}

/** Starts a worker process, and another in its place whenever it dies of a signal. */
export function superviseWorker(
  options: WorkerProcessOptions & { readonly maxCrashes?: number | undefined },
): SupervisedWorker {
  const { maxCrashes = 30, ...workerOptions } = options;
  let crashes = 0;
  let isOver = false;
  let fail: (error: Error) => void = () => undefined;
  const failure = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failure.catch(() => undefined);

  function start(): WorkerProcess {
    const worker = startWorkerProcess(workerOptions);
    void worker.ended.then(({ code, signal, output }) => {
      if (isOver) return;
      crashes += 1;
      if (signal === null) fail(new Error(`the worker ended with ${code}. Its output:\n${output}`));
      else if (crashes > maxCrashes) fail(new Error(`the worker died ${crashes} times`));
      else current = start();
    });
    return worker;
  }

  let current = start();
  return {
    get current() {
      return current;
    },
    get crashes() {
      return crashes;
    },
    failure,
    async stop() {
      isOver = true;
      return current.stop();
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await current.kill();
    },
  };
}
