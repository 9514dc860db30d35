import type { CaseContext } from "./case-context.js";
import type { CaseSubject } from "./case-subject.js";
import type { InvariantId } from "./invariants.js";

/**
 * One thing that a store must do, as data: the runner decides where it shows up, the case only what
 * is right. Everything it asserts is read past the store wherever it can be.
 */
export interface ConformanceCase {
  /** The invariant and what is shown, e.g. `A2-longest-prefix`. Stable: stores skip by it. */
  readonly id: `${InvariantId}-${string}`;
  readonly invariant: InvariantId;
  /** What holds, as a sentence without a subject. */
  readonly title: string;
  /** Whether this case says anything about a store like this one. */
  requires(subject: CaseSubject): CaseDecision;
  run(context: CaseContext): Promise<void>;
  /** What holds where the capability is denied; there if `requires` may answer `negative`. */
  runNegative?(context: CaseContext): Promise<void>;
  /** How many lease durations the case lets pass; it decides whether `wait` takes too long. */
  readonly passesLeases?: number;
  /** @defaultValue 30 000 */
  readonly timeoutMs?: number;
}

export type CaseDecision = "run" | "negative" | NotRun;

/** Not a silent skip: the reason is reported and counted. */
export interface NotRun {
  readonly notRun: string;
}

export function isNotRun(decision: CaseDecision): decision is NotRun {
  return typeof decision === "object";
}
