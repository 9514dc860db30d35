import assert from "node:assert/strict";
import type { LeaseRecord } from "./start-claim-loop.js";

/**
 * No entry had two live leases at one instant of the store's clock.
 *
 * A lease lasts to its expiry, unless its holder ended it before: then a later one follows it at
 * any time. That a holder could end a lease which another had taken over meanwhile is what fencing
 * prevents, so a stolen lease shows here as not ended.
 */
export function assertLeasesNeverOverlap(
  leases: readonly LeaseRecord[],
  timePrecisionMs: number,
): void {
  // Instants are cut to milliseconds on their way here.
  const tolerance = timePrecisionMs + 1;
  const byEntry = new Map<string, LeaseRecord[]>();
  for (const lease of leases) {
    const own = byEntry.get(lease.entryId);
    if (own === undefined) byEntry.set(lease.entryId, [lease]);
    else own.push(lease);
  }
  const overlaps: string[] = [];
  for (const own of byEntry.values()) {
    own.sort(
      (left, right) =>
        left.claimedAt - right.claimedAt || left.claimAttemptCount - right.claimAttemptCount,
    );
    own.forEach((lease, index) => {
      const next = own[index + 1];
      if (next === undefined || lease.ended) return;
      if (next.claimedAt >= lease.claimExpiresAt - tolerance) return;
      overlaps.push(
        `entry ${lease.entryId}: ${next.workerId} claimed it at ${iso(next.claimedAt)} while ${lease.workerId} held it from ${iso(lease.claimedAt)} to ${iso(lease.claimExpiresAt)}`,
      );
    });
  }
  assert.deepEqual(overlaps, [], "no entry is under two live leases at one instant");
}

const iso = (ms: number): string => new Date(ms).toISOString();
