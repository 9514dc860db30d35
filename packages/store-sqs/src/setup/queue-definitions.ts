import { InvalidArgumentError } from "@outbox/core";
import { longestRetentionMs } from "../capabilities.js";

export interface QueueDefinitionOptions {
  /** Name of the pending queue, without `.fifo`; the other one gets `-dead-letter` appended. */
  readonly name: string;
  /** Order per key, and no delays. @defaultValue false */
  readonly fifo?: boolean | undefined;
  /** The longest lease of the workers, in ms; at most 12 h. @defaultValue 60 000 */
  readonly leaseDurationMs?: number | undefined;
  /** Largest message, in bytes, from 1 024 to 1 048 576. @defaultValue 1 048 576 */
  readonly maxMessageBytes?: number | undefined;
}

/** One queue, in the form of CreateQueue's input; CloudFormation has the same attributes. */
export interface QueueDefinition {
  readonly QueueName: string;
  readonly Attributes: Readonly<Record<string, string>>;
}

/**
 * The two queues of an outbox as they should be created, by whatever creates queues for you: nothing
 * here calls AWS.
 */
export function queueDefinitions(options: QueueDefinitionOptions): {
  readonly pending: QueueDefinition;
  readonly deadLetter: QueueDefinition;
} {
  const { name, fifo = false, leaseDurationMs = 60_000, maxMessageBytes = 1_048_576 } = options;
  const suffix = fifo ? ".fifo" : "";
  const deadLetterName = `${name}-dead-letter${suffix}`;
  if (!/^[A-Za-z0-9_-]+$/.test(name) || deadLetterName.length > 80) {
    throw new InvalidArgumentError(
      "options.name",
      `must be letters, digits, hyphens and underscores, and "${deadLetterName}" at most 80 characters`,
    );
  }
  if (!(leaseDurationMs >= 1_000 && leaseDurationMs <= 43_200_000)) {
    throw new InvalidArgumentError(
      "options.leaseDurationMs",
      `must be a duration in ms from 1000 to 43200000, not ${leaseDurationMs}`,
    );
  }
  if (!(maxMessageBytes >= 1_024 && maxMessageBytes <= 1_048_576)) {
    throw new InvalidArgumentError(
      "options.maxMessageBytes",
      `must be from 1024 to 1048576, not ${maxMessageBytes}`,
    );
  }
  const attributes = {
    MessageRetentionPeriod: String(longestRetentionMs / 1_000),
    MaximumMessageSize: String(maxMessageBytes),
    VisibilityTimeout: String(Math.ceil(leaseDurationMs / 1_000)),
    // Each receive names its own wait.
    ReceiveMessageWaitTimeSeconds: "20",
    DelaySeconds: "0",
    SqsManagedSseEnabled: "true",
    ...(fifo
      ? {
          FifoQueue: "true",
          ContentBasedDeduplication: "false",
          // Thousands of entries per second, by the number of keys.
          DeduplicationScope: "messageGroup",
          FifoThroughputLimit: "perMessageGroupId",
        }
      : {}),
  };
  return {
    pending: { QueueName: `${name}${suffix}`, Attributes: attributes },
    deadLetter: { QueueName: deadLetterName, Attributes: attributes },
  };
}
