import type { StoreCapabilities } from "@outbox/core";
import type { CaseSubject, FacetName, HarnessPart } from "./case-subject.js";
import type { CaseDecision, NotRun } from "./conformance-case.js";

/** One condition of a case: `undefined` where it holds. */
export type Requirement = (subject: CaseSubject) => NotRun | undefined;

/** For cases that every store runs. */
export const always = (): CaseDecision => "run";

/** Runs where every condition holds; else reported with the first reason. */
export function when(...requirements: readonly Requirement[]) {
  return (subject: CaseSubject): CaseDecision => {
    for (const requirement of requirements) {
      const refusal = requirement(subject);
      if (refusal !== undefined) return refusal;
    }
    return "run";
  };
}

/** The positive case where the capability is there, the negative one where it is denied. */
export function eitherWay(
  isPositive: (capabilities: StoreCapabilities) => boolean,
  ...requirements: readonly Requirement[]
) {
  return (subject: CaseSubject): CaseDecision =>
    isPositive(subject.capabilities) ? when(...requirements)(subject) : "negative";
}

export const facet =
  (name: FacetName): Requirement =>
  ({ facets }) =>
    facets.has(name) ? undefined : { notRun: `the store has no ${name} facet` };

const partPurposes: Record<HarnessPart, string> = {
  transactions: "open transactions of a caller",
  nonTransactions: "make handles that are no transaction",
  gate: "hold a claimer inside its claim",
  processes: "open the outbox in another process",
  connections: "cut the store's connections",
  sessionVariants: "set up sessions differently",
};

export const harnessCan =
  (part: HarnessPart): Requirement =>
  ({ harness }) =>
    harness.has(part)
      ? undefined
      : { notRun: `the harness has no \`${part}\`: it cannot ${partPurposes[part]}` };

/** A declared value that the case is about, and nothing else to say about stores without it. */
export const declares =
  <Name extends keyof StoreCapabilities>(
    name: Name,
    ...values: readonly StoreCapabilities[Name][]
  ): Requirement =>
  ({ capabilities }) =>
    values.includes(capabilities[name])
      ? undefined
      : { notRun: `the store declares ${name}: ${String(capabilities[name])}` };

export const canDelay =
  (): Requirement =>
  ({ capabilities }) =>
    capabilities.maxDelayMs === 0 ? { notRun: "the store declares maxDelayMs: 0" } : undefined;

export const enforcesFences = declares("fencing", "enforced");
export const countsExactly = declares("counters", "exact");
export const keepsDelivered = declares("keepsDelivered", "always", "option");
export const ordersExactly = declares("selectionOrder", "exact", "exact-uncontended");
