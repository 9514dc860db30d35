import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { type Emit, NonRetryableEmissionError } from "@outbox/core";

/** An emitter that puts envelopes into a FIFO queue for consumers, which need not know of an outbox. */
export function emitToQueue(client: SQSClient, queueUrl: string): Emit {
  return async (envelope, { idempotencyKey, entry, signal }) => {
    try {
      const { MessageId = "" } = await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: JSON.stringify(envelope.payload),
          MessageGroupId: entry.orderingKey ?? envelope.subject ?? idempotencyKey,
          // For five minutes SQS takes a repeated emission for the message it has already.
          MessageDeduplicationId: idempotencyKey,
          MessageAttributes: {
            id: { DataType: "String", StringValue: idempotencyKey },
            type: { DataType: "String", StringValue: envelope.type },
          },
        }),
        { abortSignal: signal },
      );
      return { status: "delivered", providerMessageId: MessageId };
    } catch (error) {
      // SQS will never take this message; anything else is tried again.
      if (error instanceof Error && error.name === "InvalidMessageContents") {
        throw new NonRetryableEmissionError(error.message);
      }
      throw error;
    }
  };
}
