import { afterAll, beforeAll, describe, test } from "vitest";
import { ConformanceRun, type StoreConformanceOptions } from "./suite/conformance-run.js";

export type { StoreConformanceOptions } from "./suite/conformance-run.js";
export { describeStoreMutants, type StoreMutantsOptions } from "./vitest-mutants.js";

/** Longest that starting or stopping the harness (a server, perhaps) may take. */
const harnessTimeoutMs = 120_000;

/**
 * Runs the conformance suite on a store, under vitest 3 or newer. Each case is a test; one that is
 * not run is reported as skipped, with its reason. Prints invariant by case at the end.
 */
export function describeStoreConformance(options: StoreConformanceOptions): void {
  const run = new ConformanceRun(options);
  describe(`store conformance: ${options.name}`, () => {
    beforeAll(() => run.open(), harnessTimeoutMs);
    afterAll(async () => {
      await run.close();
      console.log(run.matrix());
    }, harnessTimeoutMs);
    for (const one of run.cases) {
      test(`${one.id}: ${one.title}`, { timeout: one.timeoutMs ?? 30_000 }, async (context) => {
        const report = await run.run(one);
        if (report.outcome === "failed") throw report.error;
        if (report.outcome === "not-run") context.skip(report.reason);
      });
    }
  });
}
