import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { OutboxError } from "../errors/outbox-error.js";
import { backoffMs } from "../timing/backoff-ms.js";
import { Doorbell } from "../timing/doorbell.js";
import { systemTiming, type Timing } from "../timing/timing.js";
import { describeValue, requireDurationMs, requireInteger } from "../validation/argument-checks.js";
import { createDrainParts } from "./create-drain-parts.js";
import type { DrainOptions } from "./drain-options.js";
import type { EmissionEngine } from "./emission-engine.js";
import type { Intake, IntakeReport } from "./intake.js";
import { SuspectJudge } from "./judge-suspect.js";
import { EventSink } from "./outbox-event.js";
import { type ResolvedDrainOptions, resolveDrainOptions } from "./resolve-drain-options.js";
import { RouteControl } from "./route-control.js";
import type { WorkRequest } from "./work-source.js";

/** For cron and serverless: drains what is due now and returns. */
export interface DrainOnceOptions extends DrainOptions {
  /** Claim nothing more after this long, in ms; what is in hand is still finished. @defaultValue no limit */
  readonly maxMs?: number | undefined;
  /** Claim at most this many entries. @defaultValue no limit */
  readonly maxCount?: number | undefined;
  /** Claim nothing more once aborted; what was not started is released. */
  readonly signal?: AbortSignal | undefined;
}

export interface DrainReport {
  readonly claimed: number;
  readonly delivered: number;
  /** Given back unemitted. */
  readonly released: number;
  /** Transitions that the store refused as stale, terminal or missing. */
  readonly stale: number;
  /** Emitted, but not known to the store: will be emitted again. */
  readonly expectedDuplicates: number;
  readonly endedBy: "empty" | "max-count" | "max-ms" | "aborted";
}

/**
 * Claims, emits and finalizes until nothing is due, or a limit is reached.
 *
 * @throws InvalidArgumentError naming the option
 * @throws StoreError if a claim fails, or results cannot be written for 10 s; after what is in hand
 * was finished or given back, as far as the store allows
 */
export function drain(options: DrainOnceOptions): Promise<DrainReport> {
  return drainWithTiming(options, systemTiming);
}

/** How long results that cannot be written are tried again before the drain gives up, in ms. */
const storePatienceMs = 10_000;

/** How long what is in hand may take after the last claim, beyond `emitTimeoutMs`. */
const finishMarginMs = 5_000;

/** Claims in a row whose leases were too short for anything to start. */
const mostUselessClaims = 3;

export async function drainWithTiming(
  options: DrainOnceOptions,
  timing: Timing,
): Promise<DrainReport> {
  const resolved = resolveDrainOptions(options, ["maxMs", "maxCount", "signal"]);
  const limits = resolveLimits(options);
  const pass = new DrainPass(resolved, limits, timing);
  const wake = () => pass.wake();
  limits.signal?.addEventListener("abort", wake);
  try {
    return await pass.run();
  } finally {
    limits.signal?.removeEventListener("abort", wake);
  }
}

class DrainPass {
  readonly #options: ResolvedDrainOptions;
  readonly #limits: Limits;
  readonly #timing: Timing;
  readonly #events: EventSink;
  readonly #engine: EmissionEngine;
  readonly #intake: Intake;
  readonly #progress = new Doorbell();
  readonly #startedAtMs: number;
  #claimed = 0;
  #contendedClaims = 0;
  #uselessClaims = 0;

  constructor(options: ResolvedDrainOptions, limits: Limits, timing: Timing) {
    this.#options = options;
    this.#limits = limits;
    this.#timing = timing;
    this.#events = new EventSink(options.workerId, options.observer);
    const parts = createDrainParts({
      options,
      timing,
      events: this.#events,
      routes: new RouteControl(options.routes, timing, this.#events),
      judge: new SuspectJudge(options.store.store, options.leaseDurationMs),
      onProgress: () => this.wake(),
      onStoreError: () => this.wake(),
      onStoreReply: () => this.wake(),
    });
    this.#engine = parts.engine;
    this.#intake = parts.intake;
    this.#startedAtMs = timing.monotonic();
  }

  wake(): void {
    this.#progress.ring();
  }

  async run(): Promise<DrainReport> {
    let endedBy: DrainReport["endedBy"] | null = null;
    try {
      while (endedBy === null) endedBy = this.#limitReached() ?? (await this.#step());
      await this.#untilIdle();
    } finally {
      await this.#engine.stop(this.#options.emitTimeoutMs + finishMarginMs);
    }
    const { counts, failure } = this.#engine.finalizer;
    if (failure !== null) throw failure.error;
    return {
      claimed: this.#claimed,
      delivered: counts.delivered,
      released: this.#engine.released,
      stale: counts.stale,
      expectedDuplicates: counts.expectedDuplicates,
      endedBy,
    };
  }

  #limitReached(): DrainReport["endedBy"] | null {
    const { signal, maxCount, maxMs } = this.#limits;
    if (signal?.aborted) return "aborted";
    if (this.#claimed >= maxCount) return "max-count";
    return this.#timing.monotonic() - this.#startedAtMs >= maxMs ? "max-ms" : null;
  }

  /** One claim, or the wait until one is wanted. */
  async #step(): Promise<"empty" | null> {
    const engine = this.#engine;
    this.#throwIfStuck();
    const wish = this.#intake.wish;
    // A provider that is down, or a rate limit, is not waited for: nothing more can be done now.
    if (wish.kind === "later" && wish.inMs !== null && engine.isIdle) return "empty";
    if (wish.kind === "later" || engine.finalizer.failure !== null) {
      await this.#progress.wait();
      return null;
    }
    const releasedBefore = engine.released;
    const { count, more } = await this.#take(wish.request);
    this.#claimed += count;
    this.#contendedClaims = count === 0 && more !== "none" ? this.#contendedClaims + 1 : 0;
    if (this.#contendedClaims > 0) {
      await this.#timing.sleep(backoffMs(this.#contendedClaims, 20, 100));
      return null;
    }
    if (count > 0) return null;
    await this.#untilIdle();
    // What was given back meanwhile is due again.
    return engine.isIdle && engine.released === releasedBefore ? "empty" : null;
  }

  async #take(request: WorkRequest): Promise<IntakeReport> {
    const maxCount = Math.min(request.maxCount, this.#limits.maxCount - this.#claimed);
    const signal = this.#limits.signal ?? new AbortController().signal;
    try {
      const report = await this.#intake.take({ ...request, maxCount }, signal);
      this.#uselessClaims = 0;
      return report;
    } catch (error) {
      this.#events.emit({ type: "claim-error", error, consecutive: 1 });
      const isUseless = OutboxError.isInstance(error) && error.code === "outbox.lease_too_short";
      this.#uselessClaims += 1;
      if (!isUseless || this.#uselessClaims === mostUselessClaims) throw error;
      return { count: 0, more: "likely", lagMs: 0 };
    }
  }

  /** Until what was claimed is finished; not after an abort, and not while the store is out of reach. */
  async #untilIdle(): Promise<void> {
    while (!this.#engine.isIdle && !this.#limits.signal?.aborted) {
      this.#throwIfStuck();
      await this.#progress.wait();
    }
  }

  #throwIfStuck(): void {
    const { failure } = this.#engine.finalizer;
    if (failure === null) return;
    if (this.#timing.monotonic() - failure.sinceMs >= storePatienceMs) throw failure.error;
  }
}

type Limits = ReturnType<typeof resolveLimits>;

function resolveLimits({ maxMs, maxCount, signal }: DrainOnceOptions) {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgumentError(
      "options.signal",
      `must be an AbortSignal, not ${describeValue(signal)}`,
    );
  }
  return {
    maxMs:
      maxMs === undefined
        ? Number.POSITIVE_INFINITY
        : requireDurationMs("options.maxMs", maxMs, { min: 1 }),
    maxCount:
      maxCount === undefined
        ? Number.POSITIVE_INFINITY
        : requireInteger("options.maxCount", maxCount, { min: 1, max: Number.MAX_SAFE_INTEGER }),
    signal,
  };
}
