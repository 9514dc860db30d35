import type { EmissionError } from "../contract/emission-result.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { OutboxStore } from "../contract/outbox-store.js";
import type { ClaimTransition } from "../contract/transition.js";
import { unclaimedDueTime } from "../entry/due-time.js";
import type { Timing } from "../timing/timing.js";

import { StoreAnswers } from "./store-answers.js";
import { workItem } from "./work-item.js";
import type { FinishedItem, TakenWork, WorkRequest, WorkSource } from "./work-source.js";

/** Longest wait for one answer, in ms; without leases there is nothing to derive it from. */
const answerWithinMs = 60_000;

/**
 * Work without claims: the seed's compatibility path. Nothing keeps a second drain from selecting
 * the same entries, nor this one while it still has them in hand.
 */
export class SelectionSource implements WorkSource {
  readonly overlaps = false;
  readonly wantsSuspects = false;
  readonly #store: OutboxStore;
  readonly #timing: Timing;
  readonly #answers: StoreAnswers;
  /** A mark is not safe to repeat, as a claim's transition is: what a failed batch wrote is kept. */
  readonly #written = new WeakMap<FinishedItem, ClaimTransition>();

  constructor(store: OutboxStore, timing: Timing) {
    this.#store = store;
    this.#timing = timing;
    this.#answers = new StoreAnswers(timing);
  }

  async take({ maxCount }: WorkRequest): Promise<TakenWork> {
    const pending = await this.#answer("findPending", this.#store.findPending({ maxCount }));
    const retryReady = await this.#answer(
      "findRetryReady",
      this.#store.findRetryReady({ maxCount }),
    );
    // One due order, so that neither kind can hold the other back for ever.
    const found = [...pending, ...retryReady].sort((a, b) => dueMs(a) - dueMs(b));
    return {
      items: found.slice(0, maxCount).map((entry) => workItem(entry, null)),
      more: found.length >= maxCount ? "likely" : "none",
    };
  }

  async finish(finished: readonly FinishedItem[]): Promise<readonly ClaimTransition[]> {
    const transitions: ClaimTransition[] = [];
    for (const one of finished) {
      const transition =
        this.#written.get(one) ?? (await this.#answer("mark", this.#finishOne(one)));
      this.#written.set(one, transition);
      transitions.push(transition);
    }
    return transitions;
  }

  async renew() {
    return [];
  }

  end(): void {
    this.#answers.end();
  }

  #answer<Answer>(operation: string, call: Promise<Answer>): Promise<Answer> {
    return this.#answers.within(answerWithinMs, operation, call);
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
        return this.#postpone(
          entry,
          deferred(entry, decision.error, this.#now()),
          decision.retryInMs,
        );
      case "release":
        // Nothing was held; but what is to wait must not be selected again at once.
        return decision.delayMs === undefined
          ? { outcome: "applied", entry }
          : this.#postpone(entry, entry, decision.delayMs);
    }
  }

  #postpone(read: OutboxEntry, next: OutboxEntry, delayMs: number): Promise<ClaimTransition> {
    const dueAt = new Date(this.#now().getTime() + delayMs);
    return this.#store.save(
      read,
      next.status === "pending" ? { ...next, availableAt: dueAt } : { ...next, nextRetryAt: dueAt },
    );
  }

  /** Without a lease there is no store's clock to reckon from; this process's has to do. */
  #now(): Date {
    return new Date(this.#timing.wall());
  }
}

function deferred(entry: OutboxEntry, error: EmissionError | undefined, at: Date): OutboxEntry {
  return {
    ...entry,
    status: "deferred",
    failures:
      error === undefined
        ? entry.failures
        : [...entry.failures, { at, code: error.code, message: error.message }],
  };
}

function dueMs(entry: OutboxEntry): number {
  return unclaimedDueTime(entry)?.getTime() ?? 0;
}
