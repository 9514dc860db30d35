/** What a pattern did, and what of it was not as it should be. */
export interface PatternReport {
  readonly title: string;
  readonly lines: readonly string[];
  readonly failures: readonly string[];
}

/** The failures of expectations that do not hold. */
export function unmet(expectations: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(expectations).flatMap(([expectation, holds]) =>
    holds ? [] : [expectation],
  );
}
