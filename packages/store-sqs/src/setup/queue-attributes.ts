import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import type { SqsCalls } from "../calls/sqs-calls.js";

/** What is read of a queue; what SQS does not say is `null`. */
export interface QueueAttributes {
  readonly arn: string | null;
  readonly isFifo: boolean;
  readonly maxMessageBytes: number | null;
  readonly retentionMs: number | null;
  readonly visibilityTimeoutMs: number | null;
  /** The queue's own delay, of every message that names none; FIFO messages cannot name one. */
  readonly delayMs: number;
  /** JSON, as SQS has it. */
  readonly redrivePolicy: string | null;
  readonly counts: QueueCounts;
}

/** SQS's own word for them is "approximate". */
export interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

export async function readQueueAttributes(
  calls: SqsCalls,
  queueUrl: string,
): Promise<QueueAttributes> {
  const { Attributes = {} } = await calls.call(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["All"] }),
  );
  const number = (name: keyof typeof Attributes) =>
    Attributes[name] === undefined ? null : Number(Attributes[name]);
  const seconds = (name: keyof typeof Attributes) => {
    const value = number(name);
    return value === null ? null : value * 1_000;
  };
  return {
    arn: Attributes.QueueArn ?? null,
    isFifo: Attributes.FifoQueue === "true",
    maxMessageBytes: number("MaximumMessageSize"),
    retentionMs: seconds("MessageRetentionPeriod"),
    visibilityTimeoutMs: seconds("VisibilityTimeout"),
    delayMs: seconds("DelaySeconds") ?? 0,
    redrivePolicy: Attributes.RedrivePolicy ?? null,
    counts: {
      visible: number("ApproximateNumberOfMessages") ?? 0,
      inFlight: number("ApproximateNumberOfMessagesNotVisible") ?? 0,
      delayed: number("ApproximateNumberOfMessagesDelayed") ?? 0,
    },
  };
}
