import type { ConformanceCase } from "./conformance-case.js";
import type { CaseReport } from "./conformance-run.js";
import { invariantIds, invariants } from "./invariants.js";

const marks = { run: "✓", negative: "−" } as const;

const markOf = (report: CaseReport | undefined): string => {
  if (report === undefined) return "?";
  if (report.outcome === "failed") return "✗";
  return report.mode === "not-run" ? "○" : marks[report.mode];
};

/** `A2-longest-prefix` -> `longest-prefix`: the row names the invariant. */
const shortName = (one: ConformanceCase): string => one.id.slice(one.invariant.length + 1);

/** The suite on one page: a row per invariant, a mark per case. */
export function formatMatrix(
  name: string,
  cases: readonly ConformanceCase[],
  reports: readonly CaseReport[],
): string {
  const byId = new Map<string, CaseReport>(reports.map((report) => [report.case.id, report]));
  const count = (matches: (report: CaseReport) => boolean) => reports.filter(matches).length;
  const unseen = cases.length - reports.length;
  const summary = [
    `${count((report) => report.outcome === "passed" && report.mode === "run")} run`,
    `${count((report) => report.outcome === "passed" && report.mode === "negative")} negative`,
    `${count((report) => report.outcome === "not-run")} not run`,
    `${count((report) => report.outcome === "failed")} failed`,
    ...(unseen > 0 ? [`${unseen} left out by the runner's own filter`] : []),
  ];
  return [
    `store conformance: ${name}: ${cases.length} cases: ${summary.join(", ")}`,
    "  ✓ passed   − passed, as a store that denies the capability   ○ not run   ✗ failed",
    ...invariantIds.flatMap((invariant) => {
      const own = cases.filter((one) => one.invariant === invariant);
      if (own.length === 0) return [];
      const marked = own.map((one) => `${markOf(byId.get(one.id))}${shortName(one)}`);
      return [`  ${invariant} ${invariants[invariant]}: ${marked.join(" ")}`];
    }),
    ...notRunLines(reports),
  ].join("\n");
}

function notRunLines(reports: readonly CaseReport[]): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const { case: one, reason } of reports) {
    if (reason !== undefined) byReason.set(reason, [...(byReason.get(reason) ?? []), one.id]);
  }
  return [...byReason].map(
    ([reason, ids]) => `  not run (${ids.length}): ${reason}: ${ids.join(", ")}`,
  );
}
