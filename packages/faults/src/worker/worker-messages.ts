import type { StopReport, WorkerHealth, WorkerOptions } from "@outbox/core";
import type { Point, PointFault } from "./point-fault.js";

/** What a worker process is told at its start, as JSON. */
export interface WorkerOrder {
  readonly workerId: string;
  readonly databaseUrl: string;
  /** Where emissions go; `null`: nowhere, each ends with the next turn of the event loop. */
  readonly receiverUrl: string | null;
  readonly worker: JsonWorkerOptions;
  readonly store: JsonStoreOptions;
  readonly faults: readonly PointFault[];
  /** Its observer throws at every event. */
  readonly observerThrows: boolean;
}

export type JsonWorkerOptions = Omit<
  WorkerOptions,
  "store" | "emitter" | "workerId" | "observer" | "logger" | "retryDelay"
>;

/** Durations in ms. */
export interface JsonStoreOptions {
  readonly queryTimeoutMs?: number | undefined;
  readonly connectionTimeoutMs?: number | undefined;
  readonly listenKeepAliveMs?: number | undefined;
  readonly onDelivered?: "keep" | "delete" | undefined;
}

export type WorkerCommand =
  | { readonly kind: "start" | "pause" | "resume" }
  /** Blocks the event loop. */
  | { readonly kind: "stall"; readonly ms: number }
  /** Stops the worker and keeps the process. */
  | { readonly kind: "stop" }
  /** Stops the worker and closes everything; the process then ends by itself. */
  | { readonly kind: "end" }
  | { readonly kind: "ask" };

/** A command, and the number under which it is answered. */
export interface NumberedCommand {
  readonly id: number;
  readonly command: WorkerCommand;
}

export type WorkerMessage =
  | { readonly kind: "started" }
  | { readonly kind: "point"; readonly point: Point; readonly entryIds: readonly string[] }
  | { readonly kind: "answer"; readonly id: number; readonly answer: WorkerAnswer };

/** How a worker process is. */
export interface WorkerAnswer {
  readonly health: WorkerHealth;
  /** Events since the start, by type and what tells them apart, as `transition delivered applied`. */
  readonly events: Readonly<Record<string, number>>;
  readonly resources: ProcessResources;
  /** Of the stop that was asked for. */
  readonly stop: StopReport | null;
}

/** What a process holds, to be compared with what it held before. */
export interface ProcessResources {
  /** After a collection, where the process was started with --expose-gc. */
  readonly heapUsedBytes: number;
  /** Active resources of the event loop by kind, as `Timeout` or `TCPSocketWrap`. */
  readonly active: Readonly<Record<string, number>>;
  /** Abort listeners left on the signals of ended emissions, of which a sample is kept. */
  readonly signalListeners: number;
  readonly processListeners: number;
  /** Names of warnings, such as MaxListenersExceededWarning. */
  readonly warnings: readonly string[];
}
