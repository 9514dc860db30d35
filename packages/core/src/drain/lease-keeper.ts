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
  /** The store says that the lease is no longer ours. */
  onTaken(item: WorkItem): void;
  /** Renewal did not reach the store. */
  onError(error: unknown): void;
}

/** Renews leases at a third of their duration. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #isRenewing = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** Called every tick with what is in hand; renews what has used up a third of its lease. */
  renewDue(items: Iterable<WorkItem>): void {
    if (this.#isRenewing) return;
    const { leaseDurationMs, timing } = this.#options;
    const due = new Set<WorkItem>();
    for (const item of items) {
      if (item.claim === null) continue;
      if (remainingLeaseMs(item.claim, timing) <= (leaseDurationMs * 2) / 3) due.add(item);
    }
    if (due.size > 0) void this.#renew([...due]);
  }

  /**
   * Renews everything at once: the first thing after the store was out of reach, before this
   * process claims again and takes its own expired leases for abandoned ones.
   */
  async renewAll(items: Iterable<WorkItem>): Promise<void> {
    const held = new Set<WorkItem>();
    for (const item of items) if (item.claim !== null) held.add(item);
    if (held.size > 0 && !this.#isRenewing) await this.#renew([...held]);
  }

  async #renew(items: readonly WorkItem[]): Promise<void> {
    const { source, events, onTaken, onError } = this.#options;
    this.#isRenewing = true;
    try {
      const extensions = await source.renew(items);
      let lost = 0;
      items.forEach((item, index) => {
        const extension = extensions[index];
        if (extension?.claim != null) {
          item.claim = extension.claim;
        } else {
          lost += 1;
          onTaken(item);
        }
      });
      events.emit({ type: "renewal", count: items.length, lost });
    } catch (error) {
      events.emit({ type: "renewal-error", error });
      onError(error);
    } finally {
      this.#isRenewing = false;
    }
  }
}
