import { remainingLeaseMs } from "../store/lease-deadline.js";
import type { Timing } from "../timing/timing.js";
import type { EventSink } from "./outbox-event.js";
import type { WorkItem } from "./work-item.js";
import type { WorkSource } from "./work-source.js";

export interface LeaseKeeperOptions {
  readonly source: WorkSource;
  readonly timing: Timing;
  readonly events: EventSink;
  readonly leaseDurationMs: number;
  /** The store says that the lease is no longer ours. Returns whether the item was still in hand. */
  onTaken(item: WorkItem): boolean;
  /** The store answered. */
  onRenewed(): void;
  /** Renewal did not reach the store. */
  onError(error: unknown): void;
}

/** Renews leases at a third of their duration, one renewal at a time. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #renewal: Promise<boolean> | null = null;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** Called every tick with what is in hand; renews what has used up a third of its lease. */
  renewDue(items: Iterable<WorkItem>): void {
    if (this.#renewal !== null) return;
    const { leaseDurationMs } = this.#options;
    const due = this.#withLessThan((leaseDurationMs * 2) / 3, items);
    if (due.length > 0) void this.#renew(due);
  }

  /**
   * Renews everything at once: the first thing after the store was out of reach, before this
   * process claims again and takes its own expired leases for abandoned ones. Returns whether that
   * is done, or not needed.
   */
  async renewAll(items: () => Iterable<WorkItem>): Promise<boolean> {
    // One that is under way may have been sent before the store came back, and may leave some out.
    await this.#renewal;
    const held = this.#withLessThan(Number.POSITIVE_INFINITY, items());
    return held.length === 0 || this.#renew(held);
  }

  #withLessThan(remainingMs: number, items: Iterable<WorkItem>): readonly WorkItem[] {
    const found = new Set<WorkItem>();
    for (const item of items) {
      if (item.claim === null || item.isTaken) continue;
      if (remainingLeaseMs(item.claim, this.#options.timing) <= remainingMs) found.add(item);
    }
    return [...found];
  }

  async #renew(items: readonly WorkItem[]): Promise<boolean> {
    this.#renewal = this.#send(items);
    const isDone = await this.#renewal;
    this.#renewal = null;
    return isDone;
  }

  async #send(items: readonly WorkItem[]): Promise<boolean> {
    const { source, events, onTaken, onRenewed, onError } = this.#options;
    try {
      const extensions = await source.renew(items);
      let lost = 0;
      items.forEach((item, index) => {
        const claim = extensions[index]?.claim ?? null;
        if (claim !== null) {
          item.claim = claim;
          return;
        }
        item.isTaken = true;
        if (onTaken(item)) lost += 1;
      });
      events.emit({ type: "renewal", count: items.length, lost });
      onRenewed();
      return true;
    } catch (error) {
      events.emit({ type: "renewal-error", error });
      onError(error);
      return false;
    }
  }
}
