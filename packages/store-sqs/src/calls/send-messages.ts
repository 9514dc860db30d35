import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import {
  messageAttributes,
  messageBytes,
  type TextAttributes,
} from "../snapshot/message-attributes.js";
import { type BatchResult, runBatch } from "./run-batch.js";
import type { SqsCalls } from "./sqs-calls.js";

export interface OutgoingMessage {
  readonly body: string;
  readonly attributes: TextAttributes;
  /** Whole seconds, 900 at most; a FIFO queue takes none. */
  readonly delaySeconds: number;
  /** For a FIFO queue. */
  readonly fifo: { readonly groupId: string; readonly deduplicationId: string } | null;
}

/** Longest delay of one message, in ms. */
export const longestDelayMs = 900_000;

/** Bytes of one call where the queue does not say what it takes: the limit of all times. */
const smallestLimitBytes = 262_144;

/**
 * Sends messages. The sum of a call is held to what the queue takes of one message: SQS's own bound
 * for the sum is never less.
 */
export async function sendMessages<One extends OutgoingMessage>(
  calls: SqsCalls,
  operation: string,
  queueUrl: string,
  messages: readonly One[],
  maxMessageBytes: number | null,
): Promise<ReadonlyMap<One, BatchResult>> {
  return runBatch(messages, {
    operation,
    bytesOf: ({ body, attributes }) => messageBytes(body, attributes),
    maxBytes: maxMessageBytes ?? smallestLimitBytes,
    call: (chunk) =>
      calls.call(
        new SendMessageBatchCommand({
          QueueUrl: queueUrl,
          Entries: chunk.map(({ body, attributes, delaySeconds, fifo }, index) => ({
            Id: String(index),
            MessageBody: body,
            MessageAttributes: messageAttributes(attributes),
            ...(fifo === null
              ? { DelaySeconds: delaySeconds }
              : { MessageGroupId: fifo.groupId, MessageDeduplicationId: fifo.deduplicationId }),
          })),
        }),
      ),
  });
}
