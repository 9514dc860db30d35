import { blockEventLoop } from "./block-event-loop.js";
import type { Point, PointFault } from "./point-fault.js";
import type { WorkerMessage } from "./worker-messages.js";

/** Strikes this process when it passes the points that it was told of. */
export class PointFaults {
  readonly #faults: readonly { readonly fault: PointFault; seen: number }[];
  readonly #tell: (message: WorkerMessage) => void;

  constructor(faults: readonly PointFault[], tell: (message: WorkerMessage) => void) {
    this.#faults = faults.map((fault) => ({ fault, seen: 0 }));
    this.#tell = tell;
  }

  /** To be called at each point, with the entries that are there. */
  pass(point: Point, entryIds: readonly string[]): void {
    for (const armed of this.#faults) {
      const { at, entryId, nth } = armed.fault;
      if (at !== point || (entryId !== undefined && !entryIds.includes(entryId))) continue;
      armed.seen += 1;
      if (nth === undefined || nth === armed.seen) this.#strike(armed.fault, entryIds);
    }
  }

  #strike({ at, fault }: PointFault, entryIds: readonly string[]): void {
    if (fault === "announce") {
      this.#tell({ kind: "point", point: at, entryIds });
    } else if (fault === "kill") {
      process.kill(process.pid, "SIGKILL");
      // Whichever thread the signal reaches, this one does nothing more.
      blockEventLoop(60_000);
    } else if (fault === "suspend") {
      process.kill(process.pid, "SIGSTOP");
      blockEventLoop(1);
    } else {
      blockEventLoop(fault.stallMs);
    }
  }
}
