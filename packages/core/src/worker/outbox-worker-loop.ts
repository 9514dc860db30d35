import type { WakeUpFacet } from "../contract/facets.js";
import { callGuarded } from "../drain/call-guarded.js";
import { createWorkSource } from "../drain/create-work-source.js";
import { EmissionEngine } from "../drain/emission-engine.js";
import { leaseTooShortError } from "../drain/lease-too-short-error.js";
import { EventSink } from "../drain/outbox-event.js";
import { takeWork } from "../drain/take-work.js";
import type { WorkSource } from "../drain/work-source.js";
import { Doorbell } from "../timing/doorbell.js";
import type { Timing } from "../timing/timing.js";
import { WakeableSleep } from "../timing/wakeable-sleep.js";
import {
  refuseUnknownKeys,
  requireDurationMs,
  requireObject,
} from "../validation/argument-checks.js";
import type { OutboxWorker, StopReport } from "./create-worker.js";
import { Polling } from "./polling.js";
import { type StoreOperation, StoreStatus } from "./store-status.js";
import { WakeUpListening } from "./wake-up-listening.js";
import type { WorkerHealth } from "./worker-health.js";
import {
  type ResolvedWorkerOptions,
  resolveWorkerOptions,
  type WorkerOptions,
} from "./worker-options.js";

/** One run, from a start to its stop. */
interface Run {
  readonly engine: EmissionEngine;
  readonly loop: Promise<void>;
  readonly listening: WakeUpListening | null;
  isStopping: boolean;
  stop: Promise<StopReport> | null;
}

/** How long a wake-up subscription has to close beyond the stop's own timeout, in ms. */
const closeGraceMs = 1_000;

export class OutboxWorkerLoop implements OutboxWorker {
  readonly #options: ResolvedWorkerOptions;
  readonly #timing: Timing;
  readonly #events: EventSink;
  readonly #status: StoreStatus;
  readonly #polling: Polling;
  readonly #sleep: WakeableSleep;
  readonly #progress = new Doorbell();
  #run: Run | null = null;
  #isPaused = false;
  #startAgain = false;
  #lastProgressMs = 0;
  #lastClaimAt: Date | null = null;
  #lastDeliveryAt: Date | null = null;
  #expectedDuplicates = 0;
  #lagMs: number | null = null;

  constructor(options: WorkerOptions, timing: Timing) {
    this.#options = resolveWorkerOptions(options);
    this.#timing = timing;
    const { workerId, observer, logger, pollIntervalMs } = this.#options.drain;
    this.#events = new EventSink(workerId, observer, (error) =>
      callGuarded(() => logger.warn("outbox observer threw", { error })),
    );
    this.#status = new StoreStatus(logger, workerId, timing);
    this.#polling = new Polling(pollIntervalMs);
    this.#sleep = new WakeableSleep(timing);
  }

  get workerId(): string {
    return this.#options.drain.workerId;
  }

  start(): void {
    if (this.#run?.isStopping) {
      // One loop at a time: this one begins when the other has ended.
      this.#startAgain = true;
      return;
    }
    if (this.#run !== null) return;
    this.#lastProgressMs = this.#timing.monotonic();
    this.#status.reset();
    const source = createWorkSource(this.#options.drain, this.#timing);
    const engine = this.#createEngine(source);
    const run: Run = {
      engine,
      loop: Promise.resolve().then(() => this.#loop(run, source)),
      listening: this.#listen(),
      isStopping: false,
      stop: null,
    };
    this.#run = run;
    this.#events.emit({ type: "start" });
  }

  async stop(options: { readonly timeoutMs?: number | undefined } = {}): Promise<StopReport> {
    refuseUnknownKeys("options", requireObject("options", options), ["timeoutMs"]);
    const timeoutMs = requireDurationMs(
      "options.timeoutMs",
      options.timeoutMs ?? this.#options.stopTimeoutMs,
    );
    this.#startAgain = false;
    const run = this.#run;
    if (run === null) return { released: 0, left: [], unfinalized: 0 };
    run.isStopping = true;
    run.stop ??= this.#stopRun(run, timeoutMs);
    return run.stop;
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#events.emit({ type: "pause" });
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#lastProgressMs = this.#timing.monotonic();
    this.#events.emit({ type: "resume" });
    this.#wake();
  }

  health(): WorkerHealth {
    const engine = this.#run?.engine;
    const listening = this.#run?.listening ?? null;
    const problems: string[] = [];
    const silentForMs = this.#timing.monotonic() - this.#lastProgressMs;
    const isActive = engine !== undefined && !this.#isPaused;
    const { unhealthyAfterMs } = this.#options;
    const isSilent = silentForMs > unhealthyAfterMs;
    if (isActive && isSilent) {
      problems.push(`no claim or other progress for ${Math.round(silentForMs / 1_000)} s`);
    }
    if (this.#status.isFailing) {
      problems.push(`the store failed ${this.#status.consecutiveFailures} times in a row`);
    }
    if (listening !== null && !listening.connected) {
      problems.push("wake-ups do not arrive; entries wait for the next poll");
    }
    return {
      status: !isActive
        ? "stopped"
        : isSilent || this.#status.failingForMs > unhealthyAfterMs
          ? "unhealthy"
          : problems.length > 0
            ? "degraded"
            : "healthy",
      problems,
      lastClaimAt: this.#lastClaimAt,
      lastDeliveryAt: engine?.finalizer.lastDeliveredAt ?? this.#lastDeliveryAt,
      consecutiveFailures: this.#status.consecutiveFailures,
      lastError: this.#status.lastError,
      lagMs: this.#lagMs,
      emitting: engine?.emitting ?? 0,
      queued: engine?.queued ?? 0,
      unfinalized: engine?.finalizer.size ?? 0,
      expectedDuplicates:
        this.#expectedDuplicates + (engine?.finalizer.counts.expectedDuplicates ?? 0),
      openCircuits: [],
      wakeUp: listening === null ? "none" : listening.connected ? "connected" : "disconnected",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #createEngine(source: WorkSource): EmissionEngine {
    return new EmissionEngine({
      options: this.#options.drain,
      source,
      timing: this.#timing,
      events: this.#events,
      onProgress: () => this.#progress.ring(),
      onStoreError: (operation, error) => this.#status.failed(operation, error),
      onStoreReply: (operation) => this.#noteReply(operation),
    });
  }

  #listen(): WakeUpListening | null {
    const { store, logger } = this.#options.drain;
    const facet = store.store as Partial<WakeUpFacet>;
    if (!this.#options.wakeUp || typeof facet.subscribe !== "function") return null;
    return new WakeUpListening({
      facet: facet as WakeUpFacet,
      timing: this.#timing,
      events: this.#events,
      logger,
      onWakeUp: () => {
        this.#polling.noteActivity(this.#timing.monotonic());
        this.#sleep.ring();
      },
    });
  }

  async #loop(run: Run, source: WorkSource): Promise<void> {
    while (!run.isStopping) {
      const wanted = this.#isPaused ? 0 : run.engine.appetite;
      if (wanted === 0) {
        await this.#progress.wait();
        continue;
      }
      this.#sleep.reset();
      const delayMs = await this.#claim(run, source, wanted);
      if (!run.isStopping) await this.#sleep.sleep(delayMs);
    }
  }

  /** One claim; returns how long to wait before the next. No error leaves here. */
  async #claim(run: Run, source: WorkSource, wanted: number): Promise<number> {
    try {
      if (this.#status.isFailing && !(await run.engine.renewHeld())) {
        return this.#polling.afterError(this.#status.failuresOf("renew"));
      }
      if (run.isStopping) return 0;
      const { items, more, lagMs } = await takeWork(source, wanted, this.#timing, this.#events);
      this.#lagMs = lagMs;
      this.#lastClaimAt = new Date(this.#timing.wall());
      const accepted = run.engine.add(items);
      if (accepted === 0 && items.length > 0 && !run.isStopping) {
        throw leaseTooShortError(this.#options.drain);
      }
      this.#noteReply("claim");
      return this.#polling.afterClaim(more, items.length, this.#timing.monotonic());
    } catch (error) {
      this.#status.failed("claim", error);
      this.#events.emit({
        type: "claim-error",
        error,
        consecutive: this.#status.failuresOf("claim"),
      });
      return this.#polling.afterError(this.#status.failuresOf("claim"));
    }
  }

  #noteReply(operation: StoreOperation): void {
    this.#lastProgressMs = this.#timing.monotonic();
    if (!this.#status.answered(operation)) return;
    // The others may be in a long backoff from before.
    this.#sleep.ring();
    this.#run?.engine.finalizer.hurry();
  }

  async #stopRun(run: Run, timeoutMs: number): Promise<StopReport> {
    this.#events.emit({ type: "stop" });
    const { engine, listening } = run;
    const until = this.#timing.monotonic() + timeoutMs;
    engine.stopStarting();
    this.#wake();
    const closed = this.#within(timeoutMs + closeGraceMs, listening?.close());
    // A claim under way is awaited, because its entries have to be given back; but not for ever.
    await this.#within(timeoutMs, run.loop);
    const { left, unfinalized } = await engine.stop(Math.max(0, until - this.#timing.monotonic()));
    await closed;
    this.#lastDeliveryAt = engine.finalizer.lastDeliveredAt ?? this.#lastDeliveryAt;
    this.#expectedDuplicates += engine.finalizer.counts.expectedDuplicates;
    this.#run = null;
    if (this.#startAgain) {
      this.#startAgain = false;
      this.start();
    }
    return {
      released: engine.released,
      left: left.map(({ entry }) => ({
        entryId: entry.entryId,
        envelopeId: entry.envelope.envelopeId,
      })),
      unfinalized,
    };
  }

  /** Waits for the promise, but no longer than this. */
  async #within(ms: number, promise: Promise<void> | undefined): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([promise, this.#timing.sleep(ms, waiting.signal)]);
    waiting.abort();
  }

  #wake(): void {
    this.#sleep.ring();
    this.#progress.ring();
  }
}
