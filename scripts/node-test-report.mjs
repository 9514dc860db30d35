// A reporter for `node --test` that writes what scripts/test-report.ts writes for vitest:
//   node --test --test-reporter=spec --test-reporter-destination=stdout
//     --test-reporter=../../scripts/node-test-report.mjs
//     --test-reporter-destination=.reports/node-test.json

/**
 * @param {AsyncIterable<{ type: string, data: any }>} events
 * @returns {AsyncGenerator<string>}
 */
export default async function* report(events) {
  /** @type {import("./test-report.js").TestReport} */
  const report = { startedAt: new Date().toISOString(), passed: 0, failures: [], skips: [] };
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (type === "test:fail") {
      // A suite fails with its tests; it counts itself only when something else failed it.
      const cause = data.details?.error?.failureType;
      if (data.details?.type !== "suite" || cause !== "subtestsFailed")
        report.failures.push(data.name);
      continue;
    }
    const skip = data.skip ?? data.todo;
    if (skip === undefined || skip === false) {
      if (data.details?.type !== "suite") report.passed += 1;
    } else report.skips.push({ name: data.name, reason: reasonOf(data.name, skip) });
  }
  yield `${JSON.stringify(report, null, 2)}\n`;
}

/**
 * @param {string} name
 * @param {string | true} skip
 */
const reasonOf = (name, skip) =>
  typeof skip === "string" && skip !== ""
    ? skip
    : (name.match(/.*\[(.+)\]/s)?.[1] ?? "no reason given");
