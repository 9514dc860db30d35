import type { EmissionStatus, OutboxStats } from "@outbox/core";
import type { Row } from "./sql/statement.js";
import { statsResult } from "./sql/stats.js";

/** Longest list in the statistics. */
const longestList = 100;

/** Adds up the groups of `statsStatement`. */
export function toStats(rows: readonly Row[], exact: boolean): OutboxStats {
  const byStatus: Record<EmissionStatus, number> = {
    pending: 0,
    delivered: 0,
    deferred: 0,
    failed: 0,
    "retryable-failure": 0,
    "dead-lettered": 0,
  };
  const openByType = new Map<string, { type: string; destination: string; count: number }>();
  const leasedByOwner = new Map<string, number>();
  const counts = { ready: 0, leased: 0, expired: 0, delayed: 0 };
  let oldestMicroseconds: number | null = null;
  for (const row of rows) {
    const status = row[statsResult.status] as EmissionStatus;
    const count = Number(row[statsResult.count]);
    byStatus[status] += count;
    if (status === "delivered" || status === "dead-lettered") continue;
    const type = row[statsResult.type] ?? "";
    const destination = row[statsResult.destination] ?? "";
    const key = JSON.stringify([type, destination]);
    const group = openByType.get(key) ?? { type, destination, count: 0 };
    openByType.set(key, { ...group, count: group.count + count });
    if (status === "failed") continue;

    const owner = row[statsResult.owner] ?? null;
    if (row[statsResult.isDue] === "true") {
      counts.ready += count;
      if (owner !== null) counts.expired += count;
      const age = Number(row[statsResult.ageMicroseconds]);
      oldestMicroseconds = Math.max(oldestMicroseconds ?? 0, age);
    } else if (owner === null) {
      counts.delayed += count;
    } else {
      counts.leased += count;
      leasedByOwner.set(owner, (leasedByOwner.get(owner) ?? 0) + count);
    }
  }
  return {
    byStatus,
    deliveredIsEstimate: !exact,
    ...counts,
    oldestReadyAgeMs: oldestMicroseconds === null ? null : Math.floor(oldestMicroseconds / 1000),
    openByType: largestFirst([...openByType.values()]),
    leasedByOwner: largestFirst([...leasedByOwner].map(([owner, count]) => ({ owner, count }))),
  };
}

function largestFirst<Group extends { readonly count: number }>(
  groups: readonly Group[],
): readonly Group[] {
  return [...groups].sort((a, b) => b.count - a.count).slice(0, longestList);
}
