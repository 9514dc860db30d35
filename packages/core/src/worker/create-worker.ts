import { systemTiming } from "../timing/timing.js";
import { OutboxWorkerLoop } from "./outbox-worker-loop.js";
import type { WorkerHealth } from "./worker-health.js";
import type { WorkerOptions } from "./worker-options.js";

/** What a stop leaves behind. */
export interface StopReport {
  /** Given back unemitted, at once claimable by others. */
  readonly released: number;
  /** Emissions that did not end in time; their entries were given back, and may be duplicates. */
  readonly left: readonly { readonly entryId: string; readonly envelopeId: string }[];
  /** Results that could not be written: these entries will be emitted again. */
  readonly unfinalized: number;
}

/** The loop that drains, until it is stopped. */
export interface OutboxWorker extends AsyncDisposable {
  readonly workerId: string;
  /** Begins to claim. Does nothing while running; after a stop, runs again. */
  start(): void;
  /**
   * Stops claiming, gives back what was not started, lets running emissions finish within
   * `timeoutMs`, then aborts them. Calling it twice is harmless.
   */
  stop(options?: { readonly timeoutMs?: number | undefined }): Promise<StopReport>;
  /** Claims nothing more until `resume`; what is in hand goes on. */
  pause(): void;
  resume(): void;
  health(): WorkerHealth;
}

/**
 * Creates a worker. No I/O happens before `start()`.
 *
 * @throws InvalidArgumentError naming the option
 */
export function createWorker(options: WorkerOptions): OutboxWorker {
  return new OutboxWorkerLoop(options, systemTiming);
}
