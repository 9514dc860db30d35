export { startTemporarySqs } from "./start-temporary-sqs.js";
export type { QueueContents, QueuedMessage, TemporarySqs } from "./temporary-sqs.js";
