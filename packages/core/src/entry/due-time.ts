import type { OutboxEntry } from "../contract/outbox-entry.js";

/**
 * When the entry may be claimed: while leased, at the lease's end; after a failure or deferral, at
 * `nextRetryAt` or else `updatedAt`; before, at the later of `availableAt` and `createdAt`.
 * `null`: never (terminal or parked).
 */
export function dueTime(entry: OutboxEntry): Date | null {
  return entry.claimExpiresAt ?? unclaimedDueTime(entry);
}

/** The due time without the claim: what a release restores. */
export function unclaimedDueTime(entry: OutboxEntry): Date | null {
  switch (entry.status) {
    case "pending":
      return entry.availableAt !== null && entry.availableAt > entry.createdAt
        ? entry.availableAt
        : entry.createdAt;
    case "deferred":
    case "retryable-failure":
      return entry.nextRetryAt ?? entry.updatedAt;
    default:
      return null;
  }
}
