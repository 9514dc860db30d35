import type { WakeUpFacet } from "../contract/facets.js";
import { createWorkSource } from "../drain/create-work-source.js";
import { EmissionEngine } from "../drain/emission-engine.js";
import { EventSink } from "../drain/outbox-event.js";
import type { WorkItem } from "../drain/work-item.js";
import type { TakenWork, WorkSource } from "../drain/work-source.js";
import { unclaimedDueTime } from "../entry/due-time.js";
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
import { guarded, StoreStatus } from "./store-status.js";
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
      guarded(() => logger.warn("outbox observer threw", { error })),
    );
    this.#status = new StoreStatus(logger, workerId);
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
    const isStuck = isActive && silentForMs > this.#options.unhealthyAfterMs;
    if (isStuck) {
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
        : isStuck
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
      onStoreError: (error) => this.#status.failed(error),
      onStoreReply: () => this.#noteReply(),
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
    const { pollIntervalMs } = this.#options.drain;
    try {
      if (this.#status.isFailing) await run.engine.renewHeld();
      const sentAt = this.#timing.monotonic();
      const taken = await source.take(wanted);
      this.#noteClaim(taken, this.#timing.monotonic() - sentAt);
      run.engine.add(taken.items);
      return this.#polling.afterClaim(taken.more, this.#timing.monotonic());
    } catch (error) {
      this.#status.failed(error);
      const consecutive = this.#status.consecutiveFailures;
      this.#events.emit({ type: "claim-error", error, consecutive });
      return Math.max(this.#polling.afterError(consecutive), Math.min(100, pollIntervalMs));
    }
  }

  #noteClaim({ items, more }: TakenWork, durationMs: number): void {
    this.#noteReply();
    this.#lastClaimAt = new Date(this.#timing.wall());
    const [oldest] = items;
    this.#lagMs = oldest === undefined ? 0 : lagOf(oldest);
    if (items.length > 0) this.#polling.noteActivity(this.#timing.monotonic());
    this.#events.emit({ type: "claim", count: items.length, more, durationMs, lagMs: this.#lagMs });
  }

  #noteReply(): void {
    this.#lastProgressMs = this.#timing.monotonic();
    // The loop may be in a long backoff from before.
    if (this.#status.answered()) this.#sleep.ring();
  }

  async #stopRun(run: Run, timeoutMs: number): Promise<StopReport> {
    this.#events.emit({ type: "stop" });
    const { engine, listening } = run;
    engine.stopStarting();
    this.#wake();
    // A claim under way is awaited, because its entries have to be given back; but not for ever.
    const waiting = new AbortController();
    await Promise.race([run.loop, this.#timing.sleep(timeoutMs, waiting.signal)]);
    waiting.abort();
    const { left } = await engine.stop(timeoutMs);
    const unfinalized = engine.finalizer.counts.expectedDuplicates;
    await listening?.close();
    this.#lastDeliveryAt = engine.finalizer.lastDeliveredAt ?? this.#lastDeliveryAt;
    this.#expectedDuplicates += unfinalized;
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

  #wake(): void {
    this.#sleep.ring();
    this.#progress.ring();
  }
}

function lagOf({ entry, claim }: WorkItem): number {
  const due = claim?.dueAt ?? unclaimedDueTime(entry);
  const seenAt = entry.claimedAt ?? new Date();
  return due === null ? 0 : Math.max(0, seenAt.getTime() - due.getTime());
}
