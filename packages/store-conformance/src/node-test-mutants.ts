import { after, before, describe, it } from "node:test";
import { MutantRun, type StoreMutantsOptions } from "./mutants/mutant-run.js";

export type { StoreMutantsOptions } from "./mutants/mutant-run.js";

/**
 * Proves that the suite notices broken stores: each mutant is a test that passes when the case it
 * names fails on it. Prints the table at the end.
 */
export function describeStoreMutants(options: StoreMutantsOptions): void {
  const run = new MutantRun(options);
  describe(`store mutants: ${options.name}`, () => {
    before(() => run.open());
    after(async () => {
      await run.close();
      console.log(run.table());
    });
    for (const mutant of run.mutants) {
      it(`${mutant.id} is killed by ${mutant.killedBy}`, { timeout: 120_000 }, async (context) => {
        const report = await run.run(mutant);
        if (report.outcome === "survived") throw new Error(`survived: ${report.detail}`);
        if (report.outcome === "not-run") context.skip(report.detail);
      });
    }
  });
}
