import type { OutboxStore } from "../contract/outbox-store.js";
import type { ClaimTransition } from "../contract/transition.js";
import type { FinishedItem, TakenWork, WorkSource } from "./work-source.js";

/**
 * Work without claims: the seed's compatibility path. Nothing keeps a second drain from selecting
 * the same entries, nor this one while it still has them in hand.
 */
export class SelectionSource implements WorkSource {
  readonly overlaps = false;
  readonly #store: OutboxStore;

  constructor(store: OutboxStore) {
    this.#store = store;
  }

  async take(maxCount: number): Promise<TakenWork> {
    // Half of each kind at least, so that neither can hold the other back for ever.
    const pending = await this.#store.findPending({ maxCount });
    const retryReady = await this.#store.findRetryReady({ maxCount });
    const half = Math.ceil(maxCount / 2);
    const retries = retryReady.slice(0, Math.max(half, maxCount - pending.length));
    const entries = [...retries, ...pending.slice(0, Math.max(0, maxCount - retries.length))];
    return {
      items: entries.map((entry) => ({ entry, claim: null })),
      more: pending.length + retryReady.length > entries.length ? "likely" : "none",
    };
  }

  async finish(finished: readonly FinishedItem[]): Promise<readonly ClaimTransition[]> {
    const transitions: ClaimTransition[] = [];
    for (const one of finished) transitions.push(await this.#finishOne(one));
    return transitions;
  }

  async renew() {
    return [];
  }

  async #finishOne({ item: { entry }, decision }: FinishedItem): Promise<ClaimTransition> {
    switch (decision.kind) {
      case "delivered":
        return this.#store.markDelivered(entry.entryId, decision.result);
      case "failed":
        return this.#store.markFailed(entry.entryId, decision.error, decision.retry);
      case "dead-lettered":
        return this.#store.markDeadLettered(entry.entryId, decision.error, decision.reason);
      case "deferred":
        return this.#store.save(entry, {
          ...entry,
          status: "deferred",
          // Without a lease there is no store's clock to reckon from; the entry's own will do.
          nextRetryAt: new Date(Date.now() + decision.retryInMs),
        });
      case "release":
        // Nothing was held, so there is nothing to give back.
        return { outcome: "applied", entry };
    }
  }
}
