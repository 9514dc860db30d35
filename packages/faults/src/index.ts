export {
  type EmissionReceiver,
  type ReceivedEmission,
  type ReceiverAnswer,
  startEmissionReceiver,
} from "./emission-receiver.js";
export {
  type DropReplyOptions,
  type FaultProxy,
  type RequestMatcher,
  startFaultProxy,
} from "./fault-proxy.js";
export { isClaim, isCompletion } from "./outbox-requests.js";
export { createTestOutbox, type StoredEntry, type TestOutbox } from "./test-outbox.js";
export { type UntilOptions, until } from "./until.js";
export type { Point, PointFault } from "./worker/point-fault.js";
export {
  type ProcessEnd,
  startWorkerProcess,
  type WorkerProcess,
  type WorkerProcessOptions,
} from "./worker/start-worker-process.js";
export { type SupervisedWorker, superviseWorker } from "./worker/supervise-worker.js";
export type * from "./worker/worker-messages.js";
