import type { EmissionStatus } from "../contract/emission-status.js";
import type { OutboxStats } from "../contract/facets.js";
import { dueTime } from "../entry/due-time.js";
import { isTerminal } from "./memory-complete.js";
import type { MemoryRow } from "./memory-outbox.js";

/** Longest list in the statistics. */
const longestList = 100;

export function memoryStats(
  rows: readonly MemoryRow[],
  due: readonly MemoryRow[],
  now: number,
): OutboxStats {
  const statusCounts: Record<EmissionStatus, number> = {
    pending: 0,
    delivered: 0,
    deferred: 0,
    failed: 0,
    "retryable-failure": 0,
    "dead-lettered": 0,
  };
  for (const { entry } of rows) statusCounts[entry.status] += 1;
  const expired = due.filter(({ entry }) => entry.claimToken !== null).length;
  const claimed = rows.filter(({ entry }) => entry.claimToken !== null);
  const live = claimed.filter(({ entry }) => (entry.claimExpiresAt?.getTime() ?? 0) > now);
  const claimable =
    statusCounts.pending + statusCounts.deferred + statusCounts["retryable-failure"];
  const [oldest] = due;
  const openPairs = rows
    .filter((row) => !isTerminal(row))
    .map(({ entry }) => JSON.stringify([entry.envelope.type, entry.destination]));
  return {
    byStatus: statusCounts,
    deliveredIsEstimate: false,
    ready: due.length,
    leased: live.length,
    expired,
    delayed: claimable - due.length - live.length,
    oldestReadyAgeMs:
      oldest === undefined ? null : now - (dueTime(oldest.entry as never)?.getTime() ?? now),
    openByType: largestFirst(openPairs).map(([pair, count]) => {
      const [type, destination] = JSON.parse(pair) as [string, string];
      return { type, destination, count };
    }),
    leasedByOwner: largestFirst(live.map(({ entry }) => entry.claimOwner ?? "")).map(
      ([owner, count]) => ({ owner, count }),
    ),
  };
}

function largestFirst(values: readonly string[]): readonly [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, longestList);
}
