export type {
  CallerTransaction,
  CallerTransactions,
  IsolationLevel,
  NonTransaction,
} from "./harness/caller-transactions.js";
export type { ClaimGate, HeldClaim } from "./harness/claim-gate.js";
export type { CreateHarness } from "./harness/create-harness.js";
export type { RawChanges, RawEntry, RawProbes } from "./harness/raw-probes.js";
export type {
  CreateOutboxOptions,
  OutboxUnderTest,
  SessionVariant,
  StoreConnections,
  StoreHarness,
} from "./harness/store-harness.js";
export type { StoreProcesses, StoreProcessModule } from "./harness/store-processes.js";
export type { StoreTime } from "./harness/store-time.js";
export type {
  EnqueueOptionsUnderTest,
  ProducerUnderTest,
  StoreUnderTest,
} from "./harness/store-under-test.js";
export type { WrapDriver } from "./harness/wrap-driver.js";
export { mutants } from "./mutants/all-mutants.js";
export type { Mutant } from "./mutants/mutant.js";
export { type MutantReport, MutantRun, type StoreMutantsOptions } from "./mutants/mutant-run.js";
export { overrideDriver } from "./mutants/override-driver.js";
export { conformanceCases } from "./suite/all-cases.js";
export type { CaseContext } from "./suite/case-context.js";
export type { CaseSubject, FacetName, HarnessPart } from "./suite/case-subject.js";
export type { CaseDecision, ConformanceCase, NotRun } from "./suite/conformance-case.js";
export {
  type CaseReport,
  ConformanceRun,
  type StoreConformanceOptions,
} from "./suite/conformance-run.js";
export { type InvariantId, invariants } from "./suite/invariants.js";
