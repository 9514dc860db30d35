import type { Timing } from "../timing/timing.js";
import type { EventSink } from "./outbox-event.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import type { WorkItem } from "./work-item.js";
import type { WorkSource } from "./work-source.js";

export interface EngineOptions {
  readonly options: ResolvedDrainOptions;
  readonly source: WorkSource;
  readonly timing: Timing;
  readonly events: EventSink;
  /** Called whenever more work might be wanted, or something came to an end. */
  onProgress(): void;
  onStoreError(operation: "complete" | "renew", error: unknown): void;
  /** The store answered, and nothing of the operation is left to be repeated. */
  onStoreReply(operation: "complete" | "renew"): void;
}

export interface EngineStopReport {
  /** Emissions that did not end; their entries were given back. */
  readonly left: readonly WorkItem[];
  /** Results that could not be written. */
  readonly unfinalized: number;
}
