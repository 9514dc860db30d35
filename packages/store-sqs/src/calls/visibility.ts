import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import { type BatchResult, runBatch } from "./run-batch.js";
import type { SqsCalls } from "./sqs-calls.js";

export interface VisibilityChange {
  readonly receiptHandle: string;
  readonly seconds: number;
}

/** Ends or moves visibility timeouts; 0 gives a message back at once. */
export async function changeVisibility<Change extends VisibilityChange>(
  calls: SqsCalls,
  operation: string,
  queueUrl: string,
  changes: readonly Change[],
): Promise<ReadonlyMap<Change, BatchResult>> {
  return runBatch(changes, {
    operation,
    call: (chunk) =>
      calls.call(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: queueUrl,
          Entries: chunk.map(({ receiptHandle, seconds }, index) => ({
            Id: String(index),
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: seconds,
          })),
        }),
      ),
  });
}

/** Gives messages back, as far as that can be done: what fails comes back after its lease. */
export async function giveBack(
  calls: SqsCalls,
  queueUrl: string,
  messages: readonly { readonly receiptHandle: string }[],
): Promise<void> {
  const changes = messages.map(({ receiptHandle }) => ({ receiptHandle, seconds: 0 }));
  await changeVisibility(calls, "release", queueUrl, changes);
}
