import type { InspectionFacet } from "../contract/facets.js";
import type { OutboxClaim } from "../contract/outbox-claim.js";

/** Abandoned claims of a single suspect after which the entry is taken for the cause. */
export const maxSoloAbandonedClaims = 3;

/**
 * Tells an entry that kills its process from a process that is sick.
 *
 * A suspect that was claimed alone and abandoned three times is the cause, provided that something
 * else was delivered since it was abandoned for the first time. If nothing was, whatever is emitted
 * may be what crashes, and the entry waits.
 *
 * When that was is not known, but it is as many leases ago at least as leases were abandoned: the
 * evidence has to be younger than that. It is this process's own, or, after it has just been
 * restarted, what the store still knows.
 */
export class SuspectJudge {
  readonly #store: Partial<Pick<InspectionFacet, "list">>;
  readonly #leaseDurationMs: number;
  #lastDeliveryAt: Date | null = null;

  constructor(store: object, leaseDurationMs: number) {
    this.#store = store;
    this.#leaseDurationMs = leaseDurationMs;
  }

  /** @param at - by the store's clock */
  noteDelivery(at: Date): void {
    if (this.#lastDeliveryAt === null || at > this.#lastDeliveryAt) this.#lastDeliveryAt = at;
  }

  /** @throws the store's error, if it has to be asked and cannot answer */
  async judge({ entry, dueAt, claimedAt }: OutboxClaim): Promise<"emit" | "dead-letter" | "wait"> {
    if (entry.soloAbandonedCount < maxSoloAbandonedClaims) return "emit";
    // Due since the last lease ended, or since a wait like this one was over.
    const dueMs = (dueAt ?? claimedAt).getTime();
    const since = new Date(dueMs - entry.abandonedClaimCount * this.#leaseDurationMs);
    if (this.#lastDeliveryAt !== null && this.#lastDeliveryAt >= since) return "dead-letter";
    const delivered = await this.#store.list?.(
      { statuses: ["delivered"], updatedFrom: since },
      { maxCount: 1 },
    );
    return delivered !== undefined && delivered.entries.length > 0 ? "dead-letter" : "wait";
  }
}
