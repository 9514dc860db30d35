import { type ClaimCommand, type DriverClaimBatch, InvalidArgumentError } from "@outbox/core";
import { rowToEntry } from "./row-to-entry.js";
import { claimResult, claimStatement, type DuePlace } from "./sql/claim.js";
import { microsecondsToDate } from "./sql/instant.js";
import type { Row } from "./sql/statement.js";
import { query, type StoreContext } from "./store-context.js";

export async function claim(
  context: StoreContext,
  command: ClaimCommand,
): Promise<DriverClaimBatch> {
  const after = command.after === null ? null : parseCursor(command.after);
  const rows = await query(context, claimStatement(context.names, command, after));
  const [first] = rows;
  if (first === undefined) throw new RangeError("a claim has one row at least");
  const claimed = rows.filter((row) => typeof row[claimResult.entry] === "string");
  return {
    at: microsecondsToDate(first[claimResult.now] ?? ""),
    claims: claimed.map((row) => {
      const dueAt = row[claimResult.dueAt];
      return {
        entry: rowToEntry(row, claimResult.entry),
        dueAt: typeof dueAt === "string" ? microsecondsToDate(dueAt) : null,
      };
    }),
    more: more(command, first, claimed),
    suspectsDue: first[claimResult.suspectsDue] === "true",
    cursor: cursorOf(claimed.at(-1)),
  };
}

function more(
  command: ClaimCommand,
  first: Row,
  claimed: readonly Row[],
): DriverClaimBatch["more"] {
  if (first[claimResult.contended] === "true") return "contended";
  // What is left of the suspects is looked up anyway; a group of them is never full.
  if (command.suspects === "only") {
    return first[claimResult.suspectsDue] === "true" ? "likely" : "none";
  }
  const fresh = claimed.filter((row) => row[claimResult.isReplayed] === "false").length;
  const isCutOff = fresh < Number(first[claimResult.candidateCount]);
  return isCutOff || claimed.length >= command.maxCount ? "likely" : "none";
}

/** Where the next claim may start: behind the last fresh row. */
function cursorOf(last: Row | undefined): string | null {
  const dueAt = last?.[claimResult.dueAt];
  const sequence = last?.[claimResult.sequence];
  return typeof dueAt === "string" && typeof sequence === "string" ? `${dueAt}:${sequence}` : null;
}

function parseCursor(cursor: string): DuePlace {
  const [, microseconds, sequence] = /^(-?\d{1,18}):(\d{1,19})$/.exec(cursor) ?? [];
  if (microseconds === undefined || sequence === undefined) {
    throw new InvalidArgumentError(
      "request.after",
      "is not a cursor of this store; pass the `cursor` of an earlier batch",
    );
  }
  return { microseconds, sequence };
}
