import type { Timing } from "../timing/timing.js";
import type { EmissionGate } from "./emission-gate.js";
import type { EventSink } from "./outbox-event.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import type { RouteControl } from "./route-control.js";
import type { WorkItem } from "./work-item.js";
import type { WorkSource } from "./work-source.js";

export interface EngineOptions {
  readonly options: ResolvedDrainOptions;
  readonly source: WorkSource;
  readonly timing: Timing;
  readonly events: EventSink;
  readonly routes: RouteControl;
  readonly gate: EmissionGate;
  /** An entry was delivered, at this instant of the store's clock. */
  onDelivered(at: Date): void;
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
