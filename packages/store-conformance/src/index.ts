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
