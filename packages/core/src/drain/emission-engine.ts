import type { EmissionResult } from "../contract/emission-result.js";
import { remainingLeaseMs } from "../store/lease-deadline.js";
import type { Timing } from "../timing/timing.js";
import { decideCompletion } from "./decide-completion.js";
import { Emission } from "./emission.js";
import { Finalizer } from "./finalizer.js";
import { LeaseKeeper } from "./lease-keeper.js";
import type { EventSink } from "./outbox-event.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import { eventEntry, type WorkItem } from "./work-item.js";
import { WorkQueue } from "./work-queue.js";
import type { WorkSource } from "./work-source.js";

export interface EngineOptions {
  readonly options: ResolvedDrainOptions;
  readonly source: WorkSource;
  readonly timing: Timing;
  readonly events: EventSink;
  /** Called whenever more work might be wanted, or something came to an end. */
  onProgress(): void;
  onStoreError(error: unknown): void;
  /** The store answered. */
  onStoreReply(): void;
}

/**
 * Emits what it is given, at most `emitConcurrency` at a time, and sees to it that every item ends
 * in a transition: its result, a failure, or a release.
 *
 * One ticking loop, only while something is in hand, looks after time: emissions that take too
 * long, leases to renew, leases that ran out. A blocked event loop delays the tick, and the tick
 * then finds the deadlines passed, by both clocks.
 */
export class EmissionEngine {
  readonly finalizer: Finalizer;
  readonly #given: EngineOptions;
  readonly #keeper: LeaseKeeper;
  readonly #queue = new WorkQueue();
  readonly #running = new Set<Emission>();
  /** Timed out, but not settled: their slots are free, up to a second set of slots. */
  readonly #overdue = new Set<Emission>();
  readonly #tickMs: number;
  #isTicking = false;
  #isPumping = false;
  #isStopping = false;
  #averageEmitMs = 0;
  #released = 0;

  constructor(given: EngineOptions) {
    this.#given = given;
    const { options, source, timing, events } = given;
    this.finalizer = new Finalizer({
      source,
      timing,
      events,
      flushAt: Math.max(100, options.batchSize),
      onSettled: () => {
        given.onStoreReply();
        given.onProgress();
      },
      onError: (error) => given.onStoreError(error),
    });
    this.#keeper = new LeaseKeeper({
      source,
      timing,
      events,
      leaseDurationMs: options.leaseDurationMs,
      onTaken: (item) => this.#loseLeaseOf(item),
      onError: (error) => given.onStoreError(error),
    });
    const finest = Math.min(options.leaseDurationMs / 30, options.emitTimeoutMs / 10);
    this.#tickMs = Math.min(1_000, Math.max(5, finest));
  }

  get emitting(): number {
    return this.#running.size;
  }

  get queued(): number {
    return this.#queue.size;
  }

  get released(): number {
    return this.#released;
  }

  /** Nothing in hand: every item was finalized. */
  get isIdle(): boolean {
    return this.#queue.size === 0 && this.#running.size === 0 && this.finalizer.size === 0;
  }

  /** How many further items are wanted now; 0 is none. */
  get appetite(): number {
    const { options, source } = this.#given;
    if (this.finalizer.size >= options.maxUnfinalized) return 0;
    if (this.#overdue.size >= options.emitConcurrency) return 0;
    if (!source.overlaps) return this.isIdle ? options.batchSize : 0;
    // The next batch is fetched while the last items of this one are still to be started.
    if (this.#queue.size > Math.min(options.emitConcurrency, options.batchSize / 2)) return 0;
    return Math.max(1, Math.min(options.batchSize, this.#affordable() - this.#queue.size));
  }

  add(items: readonly WorkItem[]): void {
    if (this.#isStopping) {
      for (const item of items) this.#release(item);
      return;
    }
    this.#queue.add(items);
    this.#pump();
    void this.#tick();
  }

  /** Starts nothing more; what is queued, or added from now on, is given back. */
  stopStarting(): void {
    this.#isStopping = true;
    for (const item of this.#queue.removeUnless(() => false)) this.#release(item);
  }

  /** To be called before the first claim after a store error. */
  renewHeld(): Promise<void> {
    return this.#keeper.renewAll(this.#renewable());
  }

  /**
   * Waits for what is running until `timeoutMs` is over, then aborts it, and gives back what does
   * not answer within a moment.
   */
  async stop(timeoutMs: number): Promise<{ readonly left: readonly WorkItem[] }> {
    const { timing } = this.#given;
    this.stopStarting();
    const until = timing.monotonic() + timeoutMs;
    await this.#waitUntil(() => this.#running.size === 0, until);
    for (const emission of this.#running) emission.abort("stopping");
    for (const emission of this.#overdue) emission.abort("stopping");
    const graceUntil = Math.max(until, timing.monotonic() + Math.min(1_000, timeoutMs));
    await this.#waitUntil(() => this.#running.size === 0, graceUntil);
    const left = [...this.#running].map(({ item }) => item);
    for (const emission of this.#running) {
      emission.state = "settled";
      this.#release(emission.item);
    }
    this.#running.clear();
    this.finalizer.flush();
    await this.#waitUntil(() => this.finalizer.size === 0, graceUntil + Math.min(1_000, timeoutMs));
    this.finalizer.abandon();
    return { left };
  }

  async #waitUntil(condition: () => boolean, untilMs: number): Promise<void> {
    const { timing } = this.#given;
    while (!condition() && timing.monotonic() < untilMs) await timing.sleep(5);
  }

  /** As many as a third of a lease lets us finish, as far as past emissions tell. */
  #affordable(): number {
    const { emitConcurrency, leaseDurationMs, batchSize } = this.#given.options;
    if (this.#averageEmitMs === 0) return batchSize;
    return Math.ceil((emitConcurrency * leaseDurationMs) / 3 / this.#averageEmitMs);
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { emitConcurrency } = this.#given.options;
    while (
      !this.#isStopping &&
      this.#running.size < emitConcurrency &&
      this.#running.size + this.#overdue.size < emitConcurrency * 2
    ) {
      const item = this.#queue.take();
      if (item === undefined) break;
      if (this.#hasTimeFor(item)) this.#start(item);
      else this.#release(item);
    }
    this.#isPumping = false;
    // Nothing else will come to be written together with these.
    if (this.#queue.size === 0 && this.#running.size === 0) this.finalizer.flush();
    this.#given.onProgress();
  }

  #hasTimeFor({ claim }: WorkItem): boolean {
    const { timing, options } = this.#given;
    return claim === null || remainingLeaseMs(claim, timing) > options.leaseMarginMs;
  }

  #start(item: WorkItem): void {
    const { timing, options, events } = this.#given;
    const emission = new Emission(item, timing.monotonic());
    this.#running.add(emission);
    if (events.isHeard("emission-start")) {
      const attempt = item.entry.retryCount + 1;
      events.emit({ type: "emission-start", entry: eventEntry(item), attempt });
    }
    emission.run(options.emit, (result) => this.#onResult(emission, result));
  }

  #onResult(emission: Emission, result: EmissionResult): void {
    const { timing, events } = this.#given;
    const { item, state } = emission;
    this.#overdue.delete(emission);
    this.#running.delete(emission);
    emission.state = "settled";
    const durationMs = timing.monotonic() - emission.startedAtMs;
    this.#averageEmitMs += (durationMs - this.#averageEmitMs) / 8;
    if (events.isHeard("emission-end")) {
      events.emit({
        type: "emission-end",
        entry: eventEntry(item),
        status: result.status,
        errorCode: "error" in result ? (result.error?.code ?? null) : null,
        durationMs,
        late: state !== "running",
      });
    }
    this.#finish(emission, state, result);
    this.#pump();
  }

  #finish(emission: Emission, state: Emission["state"], result: EmissionResult): void {
    const { options, timing } = this.#given;
    const { item } = emission;
    const decision = decideCompletion(result, item.entry, options, timing.wall());
    if (state === "timed-out" || state === "settled") {
      // Counted or given back already. That it was delivered after all is still offered: the token
      // decides.
      if (decision.kind === "delivered") this.finalizer.add({ item, decision });
    } else if (state !== "running" && emission.threw) {
      // An emitter that obeyed the signal has not failed.
      this.#release(item);
    } else {
      this.finalizer.add({ item, decision });
    }
  }

  #release(item: WorkItem): void {
    this.#released += 1;
    this.finalizer.add({ item, decision: { kind: "release" } });
  }

  #loseLeaseOf(item: WorkItem): void {
    for (const emission of this.#running) {
      if (emission.item === item && emission.state === "running") {
        this.#loseLease(emission, "taken");
      }
    }
  }

  #loseLease(emission: Emission, reason: "expired" | "taken"): void {
    this.#given.events.emit({ type: "lease-lost", entry: eventEntry(emission.item), reason });
    emission.abort("lease-lost");
  }

  async #tick(): Promise<void> {
    if (this.#isTicking) return;
    this.#isTicking = true;
    const { timing } = this.#given;
    while (!this.isIdle) {
      await timing.sleep(this.#tickMs);
      this.#lookAfterTime();
    }
    this.#isTicking = false;
  }

  #lookAfterTime(): void {
    const { timing, options, events } = this.#given;
    for (const emission of this.#running) {
      const { item } = emission;
      if (timing.monotonic() - emission.startedAtMs >= options.emitTimeoutMs) {
        this.#running.delete(emission);
        this.#overdue.add(emission);
        const wasRunning = emission.state === "running";
        emission.abort("timed-out");
        events.emit({ type: "emission-timeout", entry: eventEntry(item) });
        if (wasRunning) this.finalizer.add({ item, decision: this.#timeoutDecision(item) });
        else this.#release(item);
      } else if (
        emission.state === "running" &&
        item.claim !== null &&
        remainingLeaseMs(item.claim, timing) <= 0
      ) {
        this.#loseLease(emission, "expired");
      }
    }
    for (const item of this.#queue.removeUnless((one) => this.#hasTimeFor(one))) {
      this.#release(item);
    }
    this.#keeper.renewDue(this.#renewable());
    this.#pump();
  }

  #timeoutDecision({ entry }: WorkItem) {
    const { options, timing } = this.#given;
    const error = {
      code: "emission.timeout",
      message: `the emission took longer than ${options.emitTimeoutMs} ms`,
      isRetryable: true,
    };
    return decideCompletion({ status: "retryable-failure", error }, entry, options, timing.wall());
  }

  *#renewable(): Iterable<WorkItem> {
    for (const { item, state } of this.#running) if (state === "running") yield item;
    yield* this.finalizer.items();
  }
}
