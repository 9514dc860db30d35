import type { ClaimTransition } from "../contract/transition.js";
import { remainingLeaseMs } from "../store/lease-deadline.js";
import { backoffMs } from "../timing/backoff-ms.js";
import type { Timing } from "../timing/timing.js";
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
  /** After each write that went through. */
  onSettled(): void;
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
  #isFlushing = false;
  #isGathering = false;
  #abandoned = new AbortController();
  readonly counts = { delivered: 0, applied: 0, stale: 0, expectedDuplicates: 0 };
  lastDeliveredAt: Date | null = null;

  constructor(options: FinalizerOptions) {
    this.#options = options;
  }

  /** Results not yet written. */
  get size(): number {
    return this.#held.size;
  }

  /** Items whose leases are worth holding until their results are written. */
  items(): Iterable<WorkItem> {
    return this.#held.keys();
  }

  has(item: WorkItem): boolean {
    return this.#held.has(item);
  }

  add(finished: FinishedItem): void {
    this.#waiting.push({ ...finished, triedBefore: false });
    // The same item twice: a timeout, and then its late result.
    this.#held.set(finished.item, (this.#held.get(finished.item) ?? 0) + 1);
    if (this.#waiting.length >= this.#options.flushAt) this.flush();
    else void this.#gather();
  }

  /** Starts writing what waits, unless that is under way already. */
  flush(): void {
    if (!this.#isFlushing) void this.#run();
  }

  /** Gives up what is still waiting, at the end of a stop. */
  abandon(): number {
    const left = this.#waiting.length;
    this.#waiting = [];
    this.#held.clear();
    this.#abandoned.abort();
    if (left > 0) this.#countDuplicates(left);
    return left;
  }

  async #gather(): Promise<void> {
    if (this.#isGathering || this.#isFlushing) return;
    this.#isGathering = true;
    await this.#options.timing.sleep(gatherMs);
    this.#isGathering = false;
    this.flush();
  }

  async #run(): Promise<void> {
    this.#isFlushing = true;
    const { source, timing, onError, onSettled, events } = this.#options;
    const abandoned = this.#abandoned.signal;
    let failures = 0;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, largestFlush);
      try {
        const transitions = await source.finish(batch);
        failures = 0;
        batch.forEach((finished, index) => {
          this.#settle(finished, transitions[index]);
        });
        onSettled();
      } catch (error) {
        failures += 1;
        for (const finished of batch) finished.triedBefore = true;
        if (abandoned.aborted) {
          this.#countDuplicates(batch.length);
          break;
        }
        this.#waiting = batch.concat(this.#waiting);
        events.emit({ type: "transition-error", error, waiting: this.#waiting.length });
        onError(error);
        await timing.sleep(backoffMs(failures, firstBackoffMs, longestBackoffMs), abandoned);
      }
    }
    this.#isFlushing = false;
  }

  #settle({ item, decision, triedBefore }: Waiting, transition: ClaimTransition | undefined): void {
    const uses = (this.#held.get(item) ?? 1) - 1;
    if (uses === 0) this.#held.delete(item);
    else this.#held.set(item, uses);
    if (transition === undefined) return;
    const isDone =
      transition.outcome === "applied" ||
      (transition.outcome === "missing" && triedBefore && decision.kind === "delivered");
    if (isDone) {
      this.counts.applied += 1;
      if (decision.kind === "delivered") {
        this.counts.delivered += 1;
        this.lastDeliveredAt = new Date(this.#options.timing.wall());
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
        kind: decision.kind === "failed" ? failedKind(transition) : decision.kind,
        outcome: transition.outcome,
        marginMs: item.claim === null ? null : remainingLeaseMs(item.claim, this.#options.timing),
      });
    }
  }

  #countDuplicates(count: number): void {
    this.counts.expectedDuplicates += count;
    this.#options.events.emit({ type: "expected-duplicates", count });
  }
}

function failedKind({ entry }: ClaimTransition) {
  return entry?.status === "failed" ? "failed" : "retryable-failure";
}
