import colors from "picocolors";
import type { DuplicateReason, KillFacts, Ledger } from "./ledger.js";

/** The ledger as lines for the terminal. */
export function printLedger(ledger: Ledger): readonly string[] {
  const { duplicates } = ledger;
  const seen = Object.values(duplicates).reduce((sum, count) => sum + count, 0);
  return [
    colors.bold("Ledger"),
    row("committed", ledger.committed, "orders, by the shop's own table"),
    row("rolled back", ledger.rolledBack, "orders, by the producers"),
    row("delivered", ledger.delivered, "of the committed, by the receiver's own ledger"),
    row("lost", alarming(ledger.lostOrderIds.length), "committed and never received"),
    row(
      "phantom",
      alarming(ledger.phantomOrderIds.length),
      "rolled back and received all the same",
    ),
    row(
      "retried",
      ledger.retriedEntries,
      `entries, after ${count(ledger.failedEmissions)} failed emissions`,
    ),
    ...(ledger.kill ? killRows(ledger.kill) : []),
    row("duplicates", seen, `recognised by their idempotency key: ${explain(duplicates)}`),
  ];
}

function killRows(kill: KillFacts): readonly string[] {
  const last = kill.reclaimDelaysMs.at(-1);
  return [
    row("held", kill.heldCount, `claims, by ${kill.workerId} when it was killed`),
    row(
      "re-claimed",
      kill.reclaimDelaysMs.length,
      last === undefined
        ? "of them"
        : `of them by others, the last ${seconds(last)} after the kill (lease ${seconds(kill.leaseDurationMs)}, limit ${seconds(kill.limitMs)})`,
    ),
  ];
}

const explanations: Readonly<Record<DuplicateReason, string>> = {
  timeout: "after no answer in time",
  kill: "after the kill",
  "lease-lost": "after a lost lease",
  unexplained: "unexplained",
};

function explain(duplicates: Ledger["duplicates"]): string {
  const parts = (Object.keys(explanations) as DuplicateReason[])
    .filter((reason) => duplicates[reason] > 0)
    .map((reason) => `${count(duplicates[reason])} ${explanations[reason]}`);
  return parts.join(", ") || "none";
}

function row(label: string, value: number | string, note: string): string {
  const text = typeof value === "number" ? count(value).padStart(8) : value;
  return `  ${label.padEnd(12)}${text}  ${colors.dim(note)}`;
}

function alarming(value: number): string {
  const text = count(value).padStart(8);
  return value === 0 ? colors.green(text) : colors.red(text);
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
