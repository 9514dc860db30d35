/**
 * @typedef {import("./test-report.js").TestReport} TestReport
 * @typedef {{ name: string, report: TestReport | undefined }} PackageRun
 * @typedef {{ passed: number, failed: number, skipped: number }} Totals
 */

/** @param {Totals} totals */
const totalsLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

/**
 * A run that left no report, or ran nothing, counts as one failure: it must not look like success.
 *
 * @param {TestReport | undefined} report
 * @returns {string | undefined}
 */
const problemOf = (report) => {
  if (report === undefined) return "left no report";
  if (report.passed + report.failures.length + report.skips.length === 0) return "ran no test";
  return undefined;
};

/** @param {PackageRun} run */
const totalsOf = ({ report }) => ({
  passed: report?.passed ?? 0,
  failed: (report?.failures.length ?? 0) + (problemOf(report) === undefined ? 0 : 1),
  skipped: report?.skips.length ?? 0,
});

/** @param {PackageRun[]} runs */
const skipLines = (runs) => {
  /** @type {Map<string, string[]>} */
  const byReason = new Map();
  for (const { report } of runs) {
    for (const { name, reason } of report?.skips ?? []) {
      byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
    }
  }
  return [...byReason].flatMap(([reason, names]) => [
    `  ${names.length} skipped: ${reason}`,
    ...names.map((name) => `    - ${name}`),
  ]);
};

/**
 * @param {PackageRun[]} runs
 * @param {{ startedAt: string, exitCode: number }} outcome of the command that ran them
 * @returns {{ ok: boolean, totals: Totals, text: string }}
 */
export const summarizeReports = (runs, { startedAt, exitCode }) => {
  const totals = { passed: 0, failed: 0, skipped: 0 };
  const lines = [""];
  for (const run of runs) {
    const { passed, failed, skipped } = totalsOf(run);
    totals.passed += passed;
    totals.failed += failed;
    totals.skipped += skipped;
    const cached = run.report !== undefined && run.report.startedAt < startedAt ? " (cached)" : "";
    const problem = problemOf(run.report);
    lines.push(`${run.name}${cached}: ${problem ?? totalsLine({ passed, failed, skipped })}`);
    lines.push(...(run.report?.failures ?? []).map((name) => `  failed: ${name}`));
  }
  lines.push(...skipLines(runs));
  if (totals.failed === 0 && exitCode !== 0) {
    totals.failed = 1;
    lines.push(`No test failed, but a test command did (exit code ${exitCode}): see its output.`);
  }
  if (runs.length === 0) lines.push("No package has tests to run.");
  lines.push(totalsLine(totals));
  const ok = totals.failed === 0 && totals.passed > 0;
  return { ok, totals, text: lines.join("\n") };
};
