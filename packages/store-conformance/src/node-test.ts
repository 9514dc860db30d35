import { after, before, describe, it } from "node:test";
import { ConformanceRun, type StoreConformanceOptions } from "./suite/conformance-run.js";

export { describeStoreMutants, type StoreMutantsOptions } from "./node-test-mutants.js";
export type { StoreConformanceOptions } from "./suite/conformance-run.js";

/**
 * Runs the conformance suite on a store, under `node --test`. Each case is a test; one that is not
 * run is reported as skipped, with its reason. Prints invariant by case at the end.
 */
export function describeStoreConformance(options: StoreConformanceOptions): void {
  const run = new ConformanceRun(options);
  describe(`store conformance: ${options.name}`, () => {
    before(() => run.open());
    after(async () => {
      await run.close();
      console.log(run.matrix());
    });
    for (const one of run.cases) {
      it(`${one.id}: ${one.title}`, { timeout: one.timeoutMs ?? 30_000 }, async (context) => {
        const report = await run.run(one);
        if (report.outcome === "failed") throw report.error;
        if (report.outcome === "not-run") context.skip(report.reason);
      });
    }
  });
}
