import type { DriverCompletion, DriverTransition } from "../contract/store-driver.js";
import type { TransitionWrite } from "../contract/transition.js";
import { applyTransition } from "../entry/apply-transition.js";
import type { MemoryOutbox, MemoryRow } from "./memory-outbox.js";
import { rowToEntry } from "./row-to-entry.js";

/** One transition of a claim, decided in the contract's order. */
export function completeInMemory(
  outbox: MemoryOutbox,
  { claim, write }: DriverCompletion,
): DriverTransition {
  const at = new Date(outbox.now());
  const row = outbox.rows.get(claim.entry.entryId);
  if (row === undefined) return { outcome: "missing", at, entry: null };
  if (row.entry.claimToken === claim.claimToken) {
    writeRow(outbox, row, write, at, claim.claimToken);
    return { outcome: "applied", at };
  }
  const entry = rowToEntry(row);
  if (entry.resolvedClaimToken === claim.claimToken && entry.resolvedTransition === write.kind) {
    return { outcome: "applied", replayed: true, at, entry };
  }
  return { outcome: isTerminal(row) ? "terminal" : "stale-claim", at, entry };
}

export function isTerminal({ entry }: MemoryRow): boolean {
  return entry.status === "delivered" || entry.status === "dead-lettered";
}

/** Writes a transition; the caller has decided that it applies. */
export function writeRow(
  outbox: MemoryOutbox,
  row: MemoryRow,
  write: TransitionWrite,
  at: Date,
  claimToken: string | null,
): void {
  const { envelope, ...state } = applyTransition(row.entry as never, write, at, claimToken);
  outbox.rows.set(row.entry.entryId, {
    ...row,
    claimId: null,
    // A copy: core gives the same lists and instants to the caller.
    entry: structuredClone({ ...state, envelope: row.entry.envelope }),
  });
}
