export { sqsFifoCapabilities, sqsStandardCapabilities } from "./capabilities.js";
export {
  createSqsDriver,
  createSqsStore,
  type SqsOperations,
  type SqsStore,
  type SqsStoreOptions,
} from "./create-sqs-store.js";
export type { DeadLetterSelection } from "./redrive.js";
export { type IamPolicy, type IamPolicyOptions, iamPolicies } from "./setup/iam-policies.js";
export type { QueueCounts } from "./setup/queue-attributes.js";
export type { OutboxQueues } from "./setup/queue-checks.js";
export {
  type QueueDefinition,
  type QueueDefinitionOptions,
  queueDefinitions,
} from "./setup/queue-definitions.js";
export type { AcceptedDeviation } from "./setup/queue-findings.js";
export type { MaxReceiveCount } from "./store-context.js";
