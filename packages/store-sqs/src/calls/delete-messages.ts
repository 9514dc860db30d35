import { DeleteMessageBatchCommand } from "@aws-sdk/client-sqs";
import { type BatchResult, runBatch } from "./run-batch.js";
import type { SqsCalls } from "./sqs-calls.js";

export async function deleteMessages<One extends { readonly receiptHandle: string }>(
  calls: SqsCalls,
  operation: string,
  queueUrl: string,
  messages: readonly One[],
): Promise<ReadonlyMap<One, BatchResult>> {
  return runBatch(messages, {
    operation,
    call: (chunk) =>
      calls.call(
        new DeleteMessageBatchCommand({
          QueueUrl: queueUrl,
          Entries: chunk.map(({ receiptHandle }, index) => ({
            Id: String(index),
            ReceiptHandle: receiptHandle,
          })),
        }),
      ),
  });
}
