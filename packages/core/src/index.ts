export type * from "./contract/claim-request.js";
export type * from "./contract/emission-envelope.js";
export type * from "./contract/emission-result.js";
export type * from "./contract/emission-status.js";
export type * from "./contract/emitter.js";
export type * from "./contract/enqueue-input.js";
export type * from "./contract/facets.js";
export type * from "./contract/json-value.js";
export type * from "./contract/outbox-claim.js";
export type * from "./contract/outbox-claim-store.js";
export type * from "./contract/outbox-entry.js";
export type * from "./contract/outbox-store.js";
export type * from "./contract/store-capabilities.js";
export type * from "./contract/store-driver.js";
export type * from "./contract/transition.js";
export { type DrainOnceOptions, type DrainReport, drain } from "./drain/drain.js";
export {
  type CircuitSettings,
  circuitDefaults,
  type DrainOptions,
  drainDefaults,
} from "./drain/drain-options.js";
export type { EventEntry, OutboxEvent } from "./drain/outbox-event.js";
export type { OutboxLogger } from "./drain/outbox-logger.js";
export type { RateLimit } from "./drain/rate-limit.js";
export { createHttpEmitter } from "./emitters/create-http-emitter.js";
export { createNoopEmitter } from "./emitters/create-noop-emitter.js";
export type * from "./emitters/http-emitter-options.js";
export { routeByDestination } from "./emitters/route-by-destination.js";
export {
  type RoutedEnvelope,
  type RoutePattern,
  type Routes,
  routeByType,
} from "./emitters/route-by-type.js";
export { applyTransition } from "./entry/apply-transition.js";
export { dueTime, unclaimedDueTime } from "./entry/due-time.js";
export { defaultDestination, deriveEntryId } from "./entry/entry-id.js";
export { fanOut } from "./entry/fan-out.js";
export { decodePayload, type EncodedPayload, encodePayload } from "./entry/payload.js";
export { deserializeEntry, serializeEntry } from "./entry/serialize-entry.js";
export { ClosedError } from "./errors/closed-error.js";
export { EntryIdTakenError } from "./errors/entry-id-taken-error.js";
export { InvalidArgumentError } from "./errors/invalid-argument-error.js";
export { NonRetryableEmissionError } from "./errors/non-retryable-emission-error.js";
export { NotATransactionError } from "./errors/not-a-transaction-error.js";
export { OutboxError } from "./errors/outbox-error.js";
export { StoreError } from "./errors/store-error.js";
export { UnsupportedError } from "./errors/unsupported-error.js";
export {
  createMemoryStore,
  type MemoryStore,
  type MemoryStoreOptions,
} from "./memory/create-memory-store.js";
export { createMemoryDriver, memoryCapabilities } from "./memory/memory-driver.js";
export { MemoryOutbox } from "./memory/memory-outbox.js";
export {
  type DefinedStore,
  defineStore,
  type StoreOptions,
  type TransactionOf,
} from "./store/define-store.js";
export { remainingLeaseMs } from "./store/lease-deadline.js";
export { createWorker, type OutboxWorker, type StopReport } from "./worker/create-worker.js";
export type { WorkerHealth } from "./worker/worker-health.js";
export { type WorkerOptions, workerDefaults } from "./worker/worker-options.js";
