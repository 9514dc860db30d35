import type { ClaimTransition } from "../contract/transition.js";
import { OutboxError } from "../errors/outbox-error.js";
import { remainingLeaseMs } from "../store/lease-deadline.js";
import { backoffMs } from "../timing/backoff-ms.js";
import type { Timing } from "../timing/timing.js";
import { WakeableSleep } from "../timing/wakeable-sleep.js";
import type { Decision } from "./decide-completion.js";
import type { EventSink } from "./outbox-event.js";
import { eventEntry, type WorkItem } from "./work-item.js";
import type { FinishedItem, WorkSource } from "./work-source.js";

/** How long a result waits for others to be written with, in ms. */
const gatherMs = 10;

/** Most results of one write. */
const largestFlush = 1_000;

const firstBackoffMs = 100;
const longestBackoffMs = 10_000;

export interface FinalizerOptions {
  readonly source: WorkSource;
  readonly timing: Timing;
  readonly events: EventSink;
  /** A flush starts at once at this many results. */
  readonly flushAt: number;
  /** After each write that went through; whether no earlier one is still to be repeated. */
  onSettled(isClear: boolean): void;
  /** An entry was delivered, at this instant of the store's clock. */
  onDelivered(at: Date): void;
  /** After each write that did not; it is repeated. */
  onError(error: unknown): void;
}

interface Waiting extends FinishedItem {
  /** An earlier try ended without a reply, so "missing" may be our own delete. */
  triedBefore: boolean;
}

/**
 * Writes transitions in batches, one batch at a time. What cannot be written is kept and tried
 * again: an entry that was emitted is not emitted again for its bookkeeping, as long as its lease
 * can be held.
 */
export class Finalizer {
  readonly #options: FinalizerOptions;
  readonly #held = new Map<WorkItem, number>();
  #waiting: Waiting[] = [];
  #inFlight: readonly Waiting[] = [];
  #isFlushing = false;
  #isFlushWanted = false;
  #isGathering = false;
  #batchLimit = largestFlush;
  #failures = 0;
  #failure: { readonly error: unknown; readonly sinceMs: number } | null = null;
  readonly #backoff: WakeableSleep;
  readonly #abandoned = new AbortController();
  readonly counts = { delivered: 0, applied: 0, stale: 0, expectedDuplicates: 0 };
  lastDeliveredAt: Date | null = null;

  constructor(options: FinalizerOptions) {
    this.#options = options;
    this.#backoff = new WakeableSleep(options.timing);
  }

  /** Results not yet written. */
  get size(): number {
    return this.#held.size;
  }

  /** What keeps results from being written, and since when by the monotonic clock. */
  get failure(): { readonly error: unknown; readonly sinceMs: number } | null {
    return this.#failure;
  }

  /** Items whose leases are worth holding until their results are written. */
  items(): Iterable<WorkItem> {
    return this.#held.keys();
  }

  has(item: WorkItem): boolean {
    return this.#held.has(item);
  }

  add(finished: FinishedItem): void {
    const { item } = finished;
    const earlier = this.#held.has(item)
      ? this.#waiting.findIndex((waiting) => waiting.item === item)
      : -1;
    if (earlier !== -1) {
      // A timeout or release not yet written, and then the late result, which is better known.
      this.#waiting[earlier] = { ...finished, triedBefore: false };
      return;
    }
    this.#waiting.push({ ...finished, triedBefore: false });
    this.#held.set(item, (this.#held.get(item) ?? 0) + 1);
    if (this.#waiting.length >= this.#options.flushAt) this.flush();
    else void this.#gather();
  }

  /** Writes what waits, now or right after the write that is under way. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    this.#isFlushWanted = true;
    if (!this.#isFlushing) void this.#run();
  }

  /** Writes now, without the rest of a backoff, and begins a new one. */
  hurry(): void {
    this.#failures = 0;
    if (this.#failure !== null) this.#backoff.ring();
    this.flush();
  }

  /**
   * Gives up what is not written yet, at the end of a stop; returns how many results are lost. What
   * comes later is tried once.
   */
  abandon(): number {
    const lost = [...this.#inFlight, ...this.#waiting].filter(
      ({ decision }) => decision.kind !== "release",
    ).length;
    this.#waiting = [];
    this.#held.clear();
    this.#abandoned.abort();
    this.#backoff.ring();
    if (lost > 0) this.#countDuplicates(lost);
    return lost;
  }

  async #gather(): Promise<void> {
    if (this.#isGathering || this.#isFlushing) return;
    this.#isGathering = true;
    await this.#options.timing.sleep(gatherMs, this.#abandoned.signal);
    this.#isGathering = false;
    this.flush();
  }

  async #run(): Promise<void> {
    this.#isFlushing = true;
    while (this.#isDue) {
      this.#isFlushWanted = false;
      const batch = this.#waiting.splice(0, this.#batchLimit);
      this.#inFlight = batch;
      const failed = await this.#write(batch);
      this.#inFlight = [];
      if (failed === null) {
        this.#failures = 0;
        this.#batchLimit = Math.min(largestFlush, this.#batchLimit * 2);
        if (!this.#waiting.some(({ triedBefore }) => triedBefore)) this.#failure = null;
        this.#options.onSettled(this.#failure === null);
      } else if (!this.#abandoned.signal.aborted) {
        await this.#waitToRepeat(batch, failed.error);
      }
    }
    this.#isFlushing = false;
    if (this.#waiting.length > 0) void this.#gather();
  }

  /** What came during a write gathers again, as long as there is not much of it. */
  get #isDue(): boolean {
    const waiting = this.#waiting.length;
    if (this.#isFlushWanted || this.#failure !== null) return waiting > 0;
    return waiting >= this.#options.flushAt;
  }

  async #write(batch: readonly Waiting[]): Promise<{ readonly error: unknown } | null> {
    const { source, events, timing } = this.#options;
    const marginsMs = events.isHeard("transition")
      ? batch.map(({ item: { claim } }) =>
          claim === null ? null : remainingLeaseMs(claim, timing),
        )
      : [];
    try {
      const transitions = await source.finish(batch);
      if (transitions.length !== batch.length) {
        throw new OutboxError(
          "outbox.broken_store",
          `completeClaims answered ${transitions.length} of ${batch.length} completions; run the conformance suite against the store`,
        );
      }
      transitions.forEach((transition, index) => {
        const finished = batch[index];
        if (finished !== undefined) this.#settle(finished, transition, marginsMs[index] ?? null);
      });
      return null;
    } catch (error) {
      return { error };
    }
  }

  async #waitToRepeat(batch: readonly Waiting[], error: unknown): Promise<void> {
    const { events, onError, timing } = this.#options;
    for (const finished of batch) finished.triedBefore = true;
    // To the end and in smaller batches: one entry that the store refuses must not hold up the rest.
    this.#waiting = this.#waiting.concat(batch);
    this.#batchLimit = Math.ceil(batch.length / 2);
    this.#failure = { error, sinceMs: this.#failure?.sinceMs ?? timing.monotonic() };
    events.emit({ type: "transition-error", error, waiting: this.#waiting.length });
    onError(error);
    this.#failures += 1;
    await this.#backoff.sleep(backoffMs(this.#failures, firstBackoffMs, longestBackoffMs));
  }

  #settle(
    { item, decision, triedBefore }: Waiting,
    transition: ClaimTransition,
    marginMs: number | null,
  ): void {
    const uses = (this.#held.get(item) ?? 1) - 1;
    if (uses === 0) this.#held.delete(item);
    else this.#held.set(item, uses);
    if (
      transition.outcome === "applied" ||
      (triedBefore && decision.kind === "delivered" && isOwnDelivery(item, transition))
    ) {
      this.counts.applied += 1;
      if (decision.kind === "delivered") {
        this.counts.delivered += 1;
        this.lastDeliveredAt = new Date(this.#options.timing.wall());
        const at = transition.entry?.deliveredAt ?? null;
        if (at !== null) this.#options.onDelivered(at);
      }
    } else {
      this.counts.stale += 1;
      // The provider has it, and whoever holds the entry now does not know.
      if (decision.kind === "delivered") this.#countDuplicates(1);
    }
    if (this.#options.events.isHeard("transition")) {
      this.#options.events.emit({
        type: "transition",
        entry: eventEntry(item),
        kind: transitionKind(decision),
        outcome: transition.outcome,
        marginMs,
      });
    }
  }

  #countDuplicates(count: number): void {
    this.counts.expectedDuplicates += count;
    this.#options.events.emit({ type: "expected-duplicates", count });
  }
}

/** What a delivery finds that an earlier try without a reply has brought about. */
function isOwnDelivery({ claim }: WorkItem, { outcome, entry }: ClaimTransition): boolean {
  // Without claims there is no token by which the store would know the repetition.
  return claim === null ? entry?.status === "delivered" : outcome === "missing";
}

function transitionKind(decision: Decision) {
  if (decision.kind !== "failed") return decision.kind;
  return decision.error.isRetryable ? "retryable-failure" : "failed";
}
