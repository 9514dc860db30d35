import type { WakeUpFacet } from "../contract/facets.js";
import { callGuarded } from "../drain/call-guarded.js";
import { createDrainParts, type DrainParts } from "../drain/create-drain-parts.js";
import { SuspectJudge } from "../drain/judge-suspect.js";
import { EventSink } from "../drain/outbox-event.js";
import { RouteControl } from "../drain/route-control.js";
import type { WorkRequest } from "../drain/work-source.js";
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
interface Run extends DrainParts {
  readonly loop: Promise<void>;
  readonly listening: WakeUpListening | null;
  readonly stopping: AbortController;
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
  /** Outlive a stop: the providers and the suspects are still what they were. */
  readonly #routes: RouteControl;
  readonly #judge: SuspectJudge;
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
    this.#routes = new RouteControl(this.#options.drain.routes, timing, this.#events);
    this.#judge = new SuspectJudge(
      this.#options.drain.store.store,
      this.#options.drain.leaseDurationMs,
    );
    this.#status = new StoreStatus(logger, workerId, timing);
    this.#polling = new Polling(pollIntervalMs);
    this.#sleep = new WakeableSleep(timing);
  }

  get workerId(): string {
    return this.#options.drain.workerId;
  }

  start(): void {
    if (this.#run?.stopping.signal.aborted) {
      // One loop at a time: this one begins when the other has ended.
      this.#startAgain = true;
      return;
    }
    if (this.#run !== null) return;
    this.#lastProgressMs = this.#timing.monotonic();
    this.#status.reset();
    const run: Run = {
      ...this.#createParts(),
      loop: Promise.resolve().then(() => this.#loop(run)),
      listening: this.#listen(),
      stopping: new AbortController(),
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
    run.stopping.abort();
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
    // Until a probe is due there is nothing to be done, which is not the same as getting nowhere.
    const wish = this.#run?.intake.wish;
    const isProbing = wish?.kind === "later" && wish.inMs !== null;
    const isSilent = silentForMs > unhealthyAfterMs && !isProbing;
    if (isActive && isSilent) {
      problems.push(`no claim or other progress for ${Math.round(silentForMs / 1_000)} s`);
    }
    if (this.#status.isFailing) {
      problems.push(`the store failed ${this.#status.consecutiveFailures} times in a row`);
    }
    if (listening !== null && !listening.connected) {
      problems.push("wake-ups do not arrive; entries wait for the next poll");
    }
    const openCircuits = this.#routes.openRoutes;
    if (openCircuits.length > 0) {
      problems.push(`only probing, because they fail: ${openCircuits.join(", ")}`);
    }
    const crashLoop = this.#run?.intake.seesCrashLoop ?? false;
    if (crashLoop) {
      problems.push(
        "crash-loop: entries wait because workers died with them and nothing was delivered since",
      );
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
      openCircuits,
      crashLoop,
      wakeUp: listening === null ? "none" : listening.connected ? "connected" : "disconnected",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #createParts(): DrainParts {
    return createDrainParts({
      options: this.#options.drain,
      routes: this.#routes,
      judge: this.#judge,
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

  async #loop(run: Run): Promise<void> {
    const { signal } = run.stopping;
    while (!signal.aborted) {
      const wish = run.intake.wish;
      if (this.#isPaused || (wish.kind === "later" && wish.inMs === null)) {
        await this.#progress.wait();
        continue;
      }
      this.#sleep.reset();
      const delayMs = wish.kind === "now" ? await this.#claim(run, wish.request) : wish.inMs;
      if (!signal.aborted) await this.#sleep.sleep(delayMs ?? 0);
    }
  }

  /** One claim; returns how long to wait before the next. No error leaves here. */
  async #claim(run: Run, request: WorkRequest): Promise<number> {
    const { signal } = run.stopping;
    try {
      if (this.#status.isFailing) {
        if (!(await run.engine.renewHeld())) {
          return this.#polling.afterError(this.#status.failuresOf("renew"));
        }
        this.#status.answered("renew");
      }
      if (signal.aborted) return 0;
      const { count, more, lagMs } = await run.intake.take(request, signal);
      this.#lagMs = lagMs;
      this.#lastClaimAt = new Date(this.#timing.wall());
      this.#noteReply("claim");
      return this.#polling.afterClaim(more, count, this.#timing.monotonic());
    } catch (error) {
      this.#status.failed("claim", error);
      const consecutive = this.#status.failuresOf("claim");
      this.#events.emit({ type: "claim-error", error, consecutive });
      return this.#polling.afterError(consecutive);
    }
  }

  #noteReply(operation: StoreOperation): void {
    this.#lastProgressMs = this.#timing.monotonic();
    if (!this.#status.answered(operation)) return;
    // The others may be in a long backoff from before.
    if (operation !== "claim") this.#sleep.ring();
    if (operation !== "complete") this.#run?.engine.finalizer.hurry();
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
