import type { EmissionResult } from "../contract/emission-result.js";
import { remainingLeaseMs } from "../store/lease-deadline.js";
import type { Decision } from "./decide-completion.js";
import { type Emission, runBatch } from "./emission.js";
import { EmissionEndings } from "./emission-endings.js";
import { EmissionPace } from "./emission-pace.js";
import { EmissionSlots } from "./emission-slots.js";
import { EmissionStarter } from "./emission-starter.js";
import type { EngineOptions, EngineStopReport } from "./engine-options.js";
import { Finalizer } from "./finalizer.js";
import { LeaseKeeper } from "./lease-keeper.js";
import { WaitingWork } from "./waiting-work.js";
import { eventEntry, type WorkItem } from "./work-item.js";

/** How long aborted emissions have to end, and then results to be written, at a stop; in ms. */
const graceMs = 1_000;

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
  readonly #waiting = new WaitingWork();
  readonly #slots: EmissionSlots;
  readonly #pace: EmissionPace;
  readonly #tickMs: number;
  readonly #ended = new AbortController();
  /** Resolves when a stop is over. */
  readonly ended = new Promise<void>((resolve) => {
    this.#ended.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  readonly #starter: EmissionStarter;
  readonly #endings: EmissionEndings;
  readonly #leaveGate: () => void;
  readonly #suspectsDone = new Set<() => void>();
  #isTicking = false;
  #isStopping = false;

  constructor(given: EngineOptions) {
    this.#given = given;
    const { options, source, timing, events } = given;
    this.finalizer = new Finalizer({
      source,
      timing,
      events,
      flushAt: Math.max(100, options.batchSize),
      onSettled: (isClear) => {
        if (isClear) given.onStoreReply("complete");
        given.onProgress();
      },
      onDelivered: (at) => given.onDelivered(at),
      onError: (error) => given.onStoreError("complete", error),
    });
    this.#keeper = new LeaseKeeper({
      source,
      timing,
      events,
      leaseDurationMs: options.leaseDurationMs,
      onTaken: (item) => this.#loseLeaseOf(item),
      onRenewed: () => given.onStoreReply("renew"),
      onError: (error) => given.onStoreError("renew", error),
    });
    this.#endings = new EmissionEndings({
      ...given,
      finalizer: this.finalizer,
      waiting: this.#waiting,
      isStopping: () => this.#isStopping,
    });
    this.#slots = new EmissionSlots(options, given.gate);
    this.#starter = new EmissionStarter({
      ...given,
      slots: this.#slots,
      waiting: this.#waiting,
      ended: this.#ended.signal,
      canStart: () => !this.#isStopping,
      hasTimeFor: (item) => this.#hasTimeFor(item),
      start: (members) => this.#start(members),
      release: (item, delayMs) => this.#endings.release(item, delayMs),
      putOff: (item, forMs) => this.#endings.putOff(item, forMs),
      onUnheld: () => this.#pump(),
    });
    this.#leaveGate = given.gate.onOpen(() => this.#pump());
    this.#pace = new EmissionPace(options);
    const finest = Math.min(options.leaseDurationMs / 30, options.emitTimeoutMs / 10);
    this.#tickMs = Math.min(1_000, Math.max(5, finest));
  }

  get emitting(): number {
    return this.#slots.running.size;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  get released(): number {
    return this.#endings.released;
  }

  /** Nothing in hand: every item was finalized. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.emitting === 0 && this.finalizer.size === 0;
  }

  /** How many further items are wanted now; 0 is none. */
  get appetite(): number {
    const { options, source } = this.#given;
    if (this.#slots.areExhausted) return 0;
    if (!source.overlaps) return this.isIdle ? options.batchSize : 0;
    // The next batch is fetched while the last items of this one are still to be started.
    const queued = this.#waiting.size;
    if (queued > Math.min(options.emitConcurrency, options.batchSize / 2)) return 0;
    const unfinalizedLeft = options.maxUnfinalized - this.finalizer.size - this.emitting - queued;
    if (unfinalizedLeft <= 0) return 0;
    return Math.min(
      options.batchSize,
      Math.max(1, this.#pace.affordable - queued),
      unfinalizedLeft,
    );
  }

  /** Returns how many of the items were not given back at once for want of time. */
  add(items: readonly WorkItem[]): number {
    const startable: WorkItem[] = [];
    for (const item of items) {
      if (!this.#isStopping && this.#hasTimeFor(item)) startable.push(item);
      else this.#endings.release(item);
    }
    this.#waiting.add(startable);
    this.#pump();
    void this.#tick();
    return startable.length;
  }

  /**
   * Emits suspects; to be called with the gate taken, so that nothing else is in flight. Resolves
   * when none is in flight any more, or each has been for twice its timeout.
   */
  async addSuspects(items: readonly WorkItem[]): Promise<void> {
    this.add(items);
    if (!this.#hasSuspects) return;
    await new Promise<void>((resolve) => {
      this.#suspectsDone.add(resolve);
    });
  }

  /** Finalizes an item that is not to be emitted. */
  finish(item: WorkItem, decision: Decision): void {
    this.finalizer.add({ item, decision });
    void this.#tick();
  }

  /** Starts nothing more; what is queued, or added from now on, is given back. */
  stopStarting(): void {
    this.#isStopping = true;
    for (const item of this.#waiting.removeUnless(() => false)) this.#endings.release(item);
    this.#progressed();
  }

  /** To be called before the first claim after a store error; returns whether that may follow. */
  renewHeld(): Promise<boolean> {
    return this.#keeper.renewAll(() => this.#renewable());
  }

  /**
   * Waits for what is running until `timeoutMs` is over, then aborts it, and gives back what does
   * not answer within a moment. Takes at most `timeoutMs` and two such moments.
   */
  async stop(timeoutMs: number): Promise<EngineStopReport> {
    const { timing } = this.#given;
    const { running } = this.#slots;
    this.stopStarting();
    this.finalizer.hurry();
    const until = timing.monotonic() + timeoutMs;
    await this.#waitUntil(() => running.size === 0, until);
    for (const emission of running) emission.abort("stopping");
    await this.#waitUntil(() => running.size === 0, timing.monotonic() + graceMs);
    const left = [...running].map(({ item }) => item);
    for (const emission of [...running]) {
      this.#slots.end(emission);
      emission.state = "settled";
      this.#endings.giveUp(emission);
    }
    this.#progressed();
    this.finalizer.hurry();
    await this.#waitUntil(
      () => this.finalizer.size === 0,
      Math.max(until, timing.monotonic()) + graceMs,
    );
    this.#ended.abort();
    this.#leaveGate();
    this.#slots.clear();
    this.#given.source.end();
    return { left, unfinalized: this.finalizer.abandon() };
  }

  async #waitUntil(condition: () => boolean, untilMs: number): Promise<void> {
    const { timing } = this.#given;
    while (!condition() && timing.monotonic() < untilMs) await timing.sleep(5);
  }

  #pump(): void {
    this.#starter.pump();
    // Nothing else will come to be written together with these.
    if (this.#waiting.size === 0 && this.emitting === 0) this.finalizer.flush();
    this.#progressed();
  }

  get #hasSuspects(): boolean {
    return this.#waiting.hasSuspects || this.#slots.hasSuspects;
  }

  #progressed(): void {
    if (this.#suspectsDone.size > 0 && !this.#hasSuspects) {
      for (const resolve of this.#suspectsDone) resolve();
      this.#suspectsDone.clear();
    }
    this.#given.onProgress();
  }

  #hasTimeFor({ claim }: WorkItem): boolean {
    const { timing, options } = this.#given;
    return claim === null || remainingLeaseMs(claim, timing) > options.leaseMarginMs;
  }

  #start(members: readonly Emission[]): void {
    const { options, events } = this.#given;
    this.#slots.begin(members);
    if (events.isHeard("emission-start")) {
      for (const { item } of members) {
        const attempt = item.entry.retryCount + 1;
        events.emit({ type: "emission-start", entry: eventEntry(item), attempt });
      }
    }
    const onResult = (emission: Emission, result: EmissionResult) =>
      this.#onResult(emission, result);
    const [first] = members;
    if (options.emitBatch !== null && members.length > 1) {
      for (const emission of members) emission.isBatchMember = true;
      void runBatch(members, options.emitBatch, onResult, (emission) => {
        this.#slots.end(emission);
        this.#endings.bySelf(emission, emission.state);
        emission.state = "settled";
        this.#pump();
      });
    } else {
      first?.run(options.emit, (result) => onResult(first, result));
    }
  }

  #onResult(emission: Emission, result: EmissionResult): void {
    const { timing, events } = this.#given;
    const { item, state } = emission;
    this.#slots.end(emission);
    emission.state = "settled";
    const durationMs = timing.monotonic() - emission.startedAtMs;
    // A timeout has noted its duration already.
    if (state !== "timed-out") this.#pace.note(durationMs);
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
    this.#endings.withResult(emission, state, result);
    this.#pump();
  }

  /** Returns whether the item was still in hand. */
  #loseLeaseOf(item: WorkItem): boolean {
    for (const emission of this.#slots.running) {
      if (emission.item !== item) continue;
      if (emission.state === "running") this.#loseLease(emission, "taken");
      return true;
    }
    return this.finalizer.has(item);
  }

  #loseLease(emission: Emission, reason: "expired" | "taken"): void {
    this.#given.events.emit({ type: "lease-lost", entry: eventEntry(emission.item), reason });
    emission.abort("lease-lost");
  }

  async #tick(): Promise<void> {
    if (this.#isTicking) return;
    this.#isTicking = true;
    const { signal } = this.#ended;
    while (!signal.aborted && (!this.isIdle || this.#slots.hasOverdue)) {
      await this.#given.timing.sleep(this.#untilNextLookMs, signal);
      if (!signal.aborted) this.#lookAfterTime();
    }
    this.#isTicking = false;
  }

  /** A tick, or less if a lease ends before: its emission is told at that moment. */
  get #untilNextLookMs(): number {
    let untilMs = this.#tickMs;
    for (const { item, state } of this.#slots.running) {
      if (state !== "running" || item.claim === null) continue;
      untilMs = Math.min(untilMs, remainingLeaseMs(item.claim, this.#given.timing));
    }
    return Math.max(1, untilMs);
  }

  #lookAfterTime(): void {
    const { timing } = this.#given;
    for (const emission of this.#slots.running) {
      const { claim } = emission.item;
      if (emission.state !== "running" || claim === null) continue;
      if (remainingLeaseMs(claim, timing) <= 0) this.#loseLease(emission, "expired");
    }
    // After the leases: an emission that outlived its lease, as in a stalled process, has not failed.
    for (const emission of this.#slots.timeOut(timing.monotonic())) this.#timeOut(emission);
    for (const item of this.#waiting.removeUnless((one) => this.#hasTimeFor(one))) {
      this.#endings.release(item);
    }
    this.#keeper.renewDue(this.#renewable());
    this.#pump();
  }

  #timeOut(emission: Emission): void {
    const { options, events } = this.#given;
    const { item, state } = emission;
    this.#pace.note(options.emitTimeoutMs);
    events.emit({ type: "emission-timeout", entry: eventEntry(item) });
    emission.abort("timed-out");
    this.#endings.withTimeout(emission, state);
  }

  *#renewable(): Iterable<WorkItem> {
    for (const { item, state } of this.#slots.running) if (state === "running") yield item;
    yield* this.finalizer.items();
  }
}
