import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** What one run of one package's tests leaves behind for the summary of all packages. */
export interface TestReport {
  startedAt: string;
  passed: number;
  failures: string[];
  skips: { name: string; reason: string }[];
}

/** The reason is the note of `context.skip(note)`, or the last `[...]` in the test's full name. */
const skipReason = (fullName: string, note?: string): string =>
  note ?? fullName.match(/.*\[(.+)\]/s)?.[1] ?? "no reason given";

const describeCase = (test: TestCase): string =>
  `${test.module.relativeModuleId} > ${test.fullName}`;

const addModule = (report: TestReport, module: TestModule): void => {
  if (module.errors().length > 0) report.failures.push(module.relativeModuleId);
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) {
      report.failures.push(`${module.relativeModuleId} > ${suite.fullName}`);
    }
  }
  for (const test of module.children.allTests()) {
    const result = test.result();
    if (result.state === "passed") report.passed += 1;
    else if (result.state === "skipped") {
      const reason = test.options.mode === "todo" ? "todo" : skipReason(test.fullName, result.note);
      report.skips.push({ name: describeCase(test), reason });
    } else report.failures.push(describeCase(test));
  }
};

/** Writes a {@link TestReport} at the end of a vitest run. */
export const createReportFile = (path: string): Reporter => {
  const startedAt = new Date().toISOString();
  return {
    async onTestRunEnd(modules, unhandledErrors) {
      const report: TestReport = { startedAt, passed: 0, failures: [], skips: [] };
      for (const module of modules) addModule(report, module);
      for (const error of unhandledErrors) {
        report.failures.push(`unhandled error: ${error.message}`);
      }
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
    },
  };
};
