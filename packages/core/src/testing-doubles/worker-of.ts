import { OutboxWorkerLoop } from "../worker/outbox-worker-loop.js";
import type { WorkerOptions } from "../worker/worker-options.js";
import type { DrainWorld } from "./drain-world.js";

/** A worker of this world, not started. */
export function workerOf(
  world: DrainWorld,
  options: Partial<WorkerOptions> = {},
): OutboxWorkerLoop {
  const { store, emitter, timing } = world;
  return new OutboxWorkerLoop({ store, emitter, ...options }, timing);
}

export function startWorker(
  world: DrainWorld,
  options: Partial<WorkerOptions> = {},
): OutboxWorkerLoop {
  const worker = workerOf(world, options);
  worker.start();
  return worker;
}
