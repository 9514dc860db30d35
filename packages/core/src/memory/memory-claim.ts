import type { ClaimCommand, DriverClaimBatch } from "../contract/store-driver.js";
import { dueTime } from "../entry/due-time.js";
import { matchesTypeFilter } from "../validation/type-patterns.js";
import type { MemoryOutbox, MemoryRow } from "./memory-outbox.js";
import { rowToEntry } from "./row-to-entry.js";

/** Leases what is due, in due order. One synchronous step, so nothing can come between. */
export function claimFromMemory(outbox: MemoryOutbox, command: ClaimCommand): DriverClaimBatch {
  const now = outbox.now();
  // A repetition may ask for less than the first try got.
  const replayed = liveLeasesOf(outbox, command.claimId, now).slice(0, command.maxCount);
  const due = dueRows(outbox, now).filter((row) => isWanted(row, command));
  const chosen = choose(due, command, replayed);
  const claimed = chosen.rows.map((row) => {
    const leased = lease(row, command, now, chosen.solo);
    outbox.rows.set(row.entry.entryId, leased);
    return { entry: rowToEntry(leased), dueAt: new Date(dueMs(row)) };
  });
  const taken = new Set(chosen.rows);
  const left = due.filter((row) => !taken.has(row));
  return {
    at: new Date(now),
    claims: [...replayed.map((row) => ({ entry: rowToEntry(row), dueAt: null })), ...claimed],
    more: left.some((row) => isInSuspectFilter(row, command)) ? "likely" : "none",
    suspectsDue: command.suspects !== "include" && left.some(isSuspect),
    cursor: null,
  };
}

/** Due rows in due order; a live lease is not due, an expired one is. */
export function dueRows(outbox: MemoryOutbox, now: number): readonly MemoryRow[] {
  return [...outbox.rows.values()]
    .map((row) => ({ row, dueMs: dueMs(row) }))
    .filter((due) => due.dueMs <= now)
    .sort((a, b) => a.dueMs - b.dueMs || a.row.sequence - b.row.sequence)
    .map(({ row }) => row);
}

/** An expired lease, or one that expired before. Only asked of due rows. */
function isSuspect({ entry }: MemoryRow): boolean {
  return entry.claimToken !== null || entry.abandonedClaimCount > 0;
}

function dueMs({ entry }: MemoryRow): number {
  // Only the envelope's payload is missing, which has no due time.
  return dueTime(entry as never)?.getTime() ?? Number.POSITIVE_INFINITY;
}

function liveLeasesOf(outbox: MemoryOutbox, claimId: string | null, now: number): MemoryRow[] {
  if (claimId === null) return [];
  return [...outbox.rows.values()]
    .filter((row) => row.claimId === claimId && (row.entry.claimExpiresAt?.getTime() ?? 0) > now)
    .sort((a, b) => a.sequence - b.sequence);
}

function isWanted({ entry }: MemoryRow, { kind, types }: ClaimCommand): boolean {
  const isPending = entry.status === "pending";
  return (
    (kind === "any" || (kind === "pending") === isPending) &&
    matchesTypeFilter(types, entry.envelope.type)
  );
}

function isInSuspectFilter(row: MemoryRow, { suspects }: ClaimCommand): boolean {
  return suspects === "include" || (suspects === "only") === isSuspect(row);
}

function choose(
  due: readonly MemoryRow[],
  command: ClaimCommand,
  replayed: readonly MemoryRow[],
): { readonly rows: readonly MemoryRow[]; readonly solo: boolean } {
  const candidates = due.filter((row) => isInSuspectFilter(row, command));
  if (command.suspects !== "only") {
    const rows = withinBounds([...replayed, ...candidates], command.maxCount, command.maxBytes);
    return { rows: rows.slice(replayed.length), solo: false };
  }
  // A group or a single suspect is all of a claim: a replayed one is not filled up.
  if (replayed.length > 0) return { rows: [], solo: false };
  const firstTime = candidates.filter((row) => row.entry.abandonedClaimCount === 0);
  if (firstTime.length > 0) {
    const group = Math.ceil(Math.sqrt(command.maxCount));
    return { rows: withinBounds(firstTime, group, command.maxBytes), solo: false };
  }
  return { rows: candidates.slice(0, 1), solo: true };
}

/** The longest prefix within both bounds; the first always. */
function withinBounds(
  rows: readonly MemoryRow[],
  maxCount: number,
  maxBytes: number | null,
): readonly MemoryRow[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += row.entry.payloadBytes;
    return index > 0 && maxBytes !== null && bytes > maxBytes;
  });
  return rows.slice(0, Math.min(maxCount, end === -1 ? rows.length : end));
}

function lease(row: MemoryRow, command: ClaimCommand, now: number, solo: boolean): MemoryRow {
  const { entry } = row;
  const wasAbandoned = entry.claimToken !== null;
  return {
    ...row,
    claimId: command.claimId,
    entry: {
      ...entry,
      claimOwner: command.workerId,
      claimToken: `${command.tokenPrefix}:${row.sequence}`,
      claimedAt: new Date(now),
      claimExpiresAt: new Date(now + command.leaseDurationMs),
      claimAttemptCount: entry.claimAttemptCount + 1,
      abandonedClaimCount: entry.abandonedClaimCount + (wasAbandoned ? 1 : 0),
      soloAbandonedCount: entry.soloAbandonedCount + (wasAbandoned && entry.soloClaim ? 1 : 0),
      soloClaim: solo,
    },
  };
}
