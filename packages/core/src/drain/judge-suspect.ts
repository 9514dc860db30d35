import type { OutboxClaim } from "../contract/outbox-claim.js";

/** Abandoned claims of a single suspect after which the entry is taken for the cause. */
export const maxSoloAbandonedClaims = 3;

/** Most entries whose last crash is remembered. */
const mostRemembered = 1_000;

/**
 * Tells an entry that kills its process from a process that is sick.
 *
 * A suspect that was claimed alone and abandoned three times is the cause, provided that something
 * else was delivered since the last of these crashes. If nothing was, whatever is emitted may be
 * what crashes, and the entry waits.
 */
export class SuspectJudge {
  /** When a waiting suspect's last crash was, at the latest: its due time moves on while it waits. */
  readonly #crashes = new Map<string, { readonly count: number; readonly at: Date }>();
  #lastDeliveryAt: Date | null = null;

  /** @param at - by the store's clock */
  noteDelivery(at: Date): void {
    if (this.#lastDeliveryAt === null || at > this.#lastDeliveryAt) this.#lastDeliveryAt = at;
  }

  judge({ entry, dueAt, claimedAt }: OutboxClaim): "emit" | "dead-letter" | "wait" {
    const { entryId, soloAbandonedCount: count } = entry;
    const known = this.#crashes.get(entryId);
    this.#crashes.delete(entryId);
    if (count < maxSoloAbandonedClaims) return "emit";
    // The crash was before the lease's end, which is since when the entry was due.
    const at = known?.count === count ? known.at : (dueAt ?? claimedAt);
    if (this.#lastDeliveryAt !== null && this.#lastDeliveryAt >= at) return "dead-letter";
    this.#crashes.set(entryId, { count, at });
    if (this.#crashes.size > mostRemembered) {
      // The oldest; forgetting it only makes it wait for one more delivery.
      for (const first of [...this.#crashes.keys()].slice(0, 1)) this.#crashes.delete(first);
    }
    return "wait";
  }
}
