import {
  type ClaimCommand,
  type DriverClaim,
  type DriverClaimBatch,
  InvalidArgumentError,
} from "@outbox/core";
import { rowToEntry } from "./row-to-entry.js";
import { claimResult, claimStatement, claimSummary, type DuePlace } from "./sql/claim.js";
import { microsecondsToDate } from "./sql/instant.js";
import type { Row } from "./sql/statement.js";
import { query, type StoreContext } from "./store-context.js";

export async function claim(
  context: StoreContext,
  command: ClaimCommand,
): Promise<DriverClaimBatch> {
  const after = command.after === null ? null : parseCursor(command.after);
  const rows = await query(context, claimStatement(context.names, command, after));
  const summaryRow = rows.find((row) => row[claimResult.sequence] === null);
  const summary = JSON.parse(summaryRow?.[claimResult.summary] ?? "[]") as Summary;
  const entries = new Map<string, Row>();
  for (const row of rows) {
    const sequence = row[claimResult.sequence];
    if (typeof sequence === "string") entries.set(sequence, row);
  }

  const fresh: DriverClaim[] = [];
  const order = summary[claimSummary.order]?.split(",") ?? [];
  for (const place of order) {
    const [dueAt = "", sequence = ""] = place.split(":");
    const row = entries.get(sequence);
    if (row === undefined) continue;
    fresh.push({ entry: rowToEntry(row, claimResult.entry), dueAt: microsecondsToDate(dueAt) });
    entries.delete(sequence);
  }
  const replayed = [...entries]
    .sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))
    .map(([, row]) => ({ entry: rowToEntry(row, claimResult.entry), dueAt: null }));
  return {
    at: microsecondsToDate(summary[claimSummary.now]),
    claims: [...replayed, ...fresh],
    more: more(command, summary, fresh.length, replayed.length),
    suspectsDue: summary[claimSummary.suspectsDue],
    // Where the next claim may start: behind the last fresh one.
    cursor: order.at(-1) ?? null,
  };
}

type Summary = readonly [
  now: string,
  candidateCount: number,
  suspectsDue: boolean,
  contended: boolean,
  order: string | null,
];

function more(
  command: ClaimCommand,
  summary: Summary,
  fresh: number,
  replayed: number,
): DriverClaimBatch["more"] {
  if (summary[claimSummary.contended]) return "contended";
  // What is left of the suspects is looked up anyway; a group of them is never full.
  if (command.suspects === "only") return summary[claimSummary.suspectsDue] ? "likely" : "none";
  const isCutOff = fresh < summary[claimSummary.candidateCount];
  return isCutOff || fresh + replayed >= command.maxCount ? "likely" : "none";
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
