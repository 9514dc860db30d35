import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { TransitionWrite } from "../contract/transition.js";

/**
 * The entry after a transition that the store applied at `at` under `claimToken` (`null` on the
 * selection path). Pure; what every driver's statement must amount to.
 */
export function applyTransition(
  entry: OutboxEntry,
  write: TransitionWrite,
  at: Date,
  claimToken: string | null,
): OutboxEntry {
  const isRelease = write.kind === "release";
  const dueAt =
    write.due === null
      ? null
      : "at" in write.due
        ? write.due.at
        : new Date(at.getTime() + write.due.inMs);
  const waitsForRetry = write.status === "deferred" || write.status === "retryable-failure";
  return {
    ...entry,
    status: write.status,
    retryCount: write.retryCount,
    failures: write.failures,
    metadata: write.metadata,
    updatedAt: isRelease ? entry.updatedAt : at,
    availableAt: write.status === "pending" && dueAt !== null ? dueAt : entry.availableAt,
    nextRetryAt: waitsForRetry ? (dueAt ?? (isRelease ? entry.nextRetryAt : null)) : null,
    deliveredAt: write.status === "delivered" ? at : null,
    providerMessageId: write.providerMessageId,
    deadLetterReason: write.deadLetterReason,
    claimOwner: null,
    claimToken: null,
    claimedAt: null,
    claimExpiresAt: null,
    abandonedClaimCount: isRelease ? entry.abandonedClaimCount : 0,
    soloClaim: isRelease ? entry.soloClaim : false,
    soloAbandonedCount: isRelease ? entry.soloAbandonedCount : 0,
    resolvedClaimToken: claimToken,
    resolvedTransition: write.kind,
  };
}
