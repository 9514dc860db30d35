import type { StoreCapabilities } from "@outbox/core";
import type { StoreHarness } from "../harness/store-harness.js";
import type { Mutant } from "../mutants/mutant.js";
import { openCaseContext, waitedLeaseMs, waitedMarginMs } from "./case-context.js";
import type { CaseSubject } from "./case-subject.js";
import { type CaseDecision, type ConformanceCase, isNotRun } from "./conformance-case.js";

/** Longest that a case may really wait for the store's time. */
const longestWaitMs = 5_000;

/** Whether and how the case runs on this store. */
export function decideCase(conformanceCase: ConformanceCase, subject: CaseSubject): CaseDecision {
  const decision = conformanceCase.requires(subject);
  if (isNotRun(decision)) return decision;
  if (decision === "negative" && conformanceCase.runNegative === undefined) {
    throw new Error(`case ${conformanceCase.id} answers "negative" and has no runNegative`);
  }
  const waitMs = (conformanceCase.passesLeases ?? 0) * (waitedLeaseMs + waitedMarginMs);
  if (subject.timeMode === "wait" && waitMs > longestWaitMs) {
    return {
      notRun: `takes ${waitMs} ms of the store's time, which here must be waited for (at most ${longestWaitMs} ms)`,
    };
  }
  return decision;
}

export interface RunCaseOptions {
  readonly capabilities: StoreCapabilities;
  readonly decision: "run" | "negative";
  /** A broken store to run it on instead. */
  readonly mutant?: Mutant | undefined;
}

/** Runs the case on an outbox of its own; throws what it throws. */
export async function runCase(
  conformanceCase: ConformanceCase,
  harness: StoreHarness,
  { capabilities, decision, mutant }: RunCaseOptions,
): Promise<void> {
  const contexts = await openCaseContext(harness, { capabilities, mutant });
  let failed = true;
  try {
    if (decision === "run") await conformanceCase.run(contexts.context);
    else await conformanceCase.runNegative?.(contexts.context);
    failed = false;
  } finally {
    // What the case says matters more than what closing after it says.
    await contexts.close().catch((error: unknown) => {
      if (!failed) throw error;
    });
  }
}
