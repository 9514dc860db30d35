import { afterAll, beforeAll, describe, test } from "vitest";
import { MutantRun, type StoreMutantsOptions } from "./mutants/mutant-run.js";

export type { StoreMutantsOptions } from "./mutants/mutant-run.js";

/**
 * Proves that the suite notices broken stores: each mutant is a test that passes when the case it
 * names fails on it. Prints the table at the end.
 */
export function describeStoreMutants(options: StoreMutantsOptions): void {
  const run = new MutantRun(options);
  describe(`store mutants: ${options.name}`, () => {
    beforeAll(() => run.open(), 120_000);
    afterAll(async () => {
      await run.close();
      console.log(run.table());
    }, 120_000);
    for (const mutant of run.mutants) {
      test(`${mutant.id} is killed by ${mutant.killedBy}`, {
        timeout: 120_000,
      }, async (context) => {
        const report = await run.run(mutant);
        if (report.outcome === "survived") throw new Error(`survived: ${report.detail}`);
        if (report.outcome === "not-run") context.skip(report.detail);
      });
    }
  });
}
