import type { Finding } from "@outbox/core";
import { longestRetentionMs } from "../capabilities.js";
import type { QueueAttributes } from "./queue-attributes.js";

/** What of the queues' attributes an application may accept, by name. */
export type AcceptedDeviation = "retention" | "redrive-policy" | "visibility-timeout";

export interface QueueExpectations {
  readonly isFifo: boolean;
  readonly accept: readonly AcceptedDeviation[];
  readonly deadLetterRetentionMs: number;
  /** The lease that is about to be taken; `null` where none is known. */
  readonly leaseDurationMs: number | null;
}

interface Deviation extends Finding {
  readonly acceptedAs: AcceptedDeviation | null;
}

/** What is wrong with the queue that holds the open entries. */
export function pendingQueueFindings(
  queue: QueueAttributes,
  expected: QueueExpectations,
): readonly Finding[] {
  return judged(
    [
      ...kindDeviations("pending", queue, expected),
      ...(queue.retentionMs !== null && queue.retentionMs < longestRetentionMs
        ? [
            deviation(
              "retention",
              `the pending queue keeps messages for ${days(queue.retentionMs)}: an entry that waits longer is lost`,
              "set MessageRetentionPeriod to 1209600 (14 days)",
            ),
          ]
        : []),
      ...(queue.redrivePolicy !== null
        ? [
            deviation(
              "redrive-policy",
              "the pending queue has a RedrivePolicy: SQS would dead-letter entries for having been released or deferred, and past this store's record of why",
              "remove RedrivePolicy; the store dead-letters by itself",
            ),
          ]
        : []),
      ...(queue.visibilityTimeoutMs !== null &&
      expected.leaseDurationMs !== null &&
      queue.visibilityTimeoutMs < expected.leaseDurationMs
        ? [
            deviation(
              "visibility-timeout",
              `the pending queue's VisibilityTimeout (${queue.visibilityTimeoutMs / 1_000} s) is shorter than the lease (${expected.leaseDurationMs / 1_000} s): whoever receives without naming one holds a message for less than workers expect`,
              `set VisibilityTimeout to ${Math.ceil(expected.leaseDurationMs / 1_000)}`,
            ),
          ]
        : []),
      ...(queue.isFifo && queue.delayMs > 0
        ? [
            {
              ...deviation(
                null,
                `the pending queue delays every message by ${queue.delayMs / 1_000} s`,
                "set DelaySeconds to 0, unless every entry is meant to wait that long",
              ),
              severity: "warning" as const,
            },
          ]
        : []),
    ],
    expected.accept,
  );
}

/** What is wrong with the queue that holds parked and dead-lettered entries. */
export function deadLetterQueueFindings(
  queue: QueueAttributes,
  pending: QueueAttributes,
  expected: QueueExpectations,
): readonly Finding[] {
  const deviations: Deviation[] = [...kindDeviations("dead-letter", queue, expected)];
  if (queue.retentionMs !== null && queue.retentionMs < expected.deadLetterRetentionMs) {
    deviations.push(
      deviation(
        null,
        `the dead-letter queue keeps messages for ${days(queue.retentionMs)}, and the store declares ${days(expected.deadLetterRetentionMs)}`,
        "set MessageRetentionPeriod to 1209600 (14 days), or declare what it is with deadLetterRetentionMs",
      ),
    );
  }
  if ((queue.maxMessageBytes ?? 0) < (pending.maxMessageBytes ?? 0)) {
    deviations.push(
      deviation(
        null,
        `the dead-letter queue takes messages of ${queue.maxMessageBytes} bytes, the pending queue of ${pending.maxMessageBytes}: a large entry could not be dead-lettered`,
        "set MaximumMessageSize of the dead-letter queue to at least that of the pending queue",
      ),
    );
  }
  if (queue.redrivePolicy !== null) {
    deviations.push(
      deviation(
        "redrive-policy",
        "the dead-letter queue has a RedrivePolicy: looking through it for a redrive would move its messages on",
        "remove RedrivePolicy from the dead-letter queue",
      ),
    );
  }
  return judged(deviations, expected.accept);
}

function kindDeviations(
  name: "pending" | "dead-letter",
  queue: QueueAttributes,
  { isFifo }: QueueExpectations,
): readonly Deviation[] {
  if (queue.isFifo === isFifo) return [];
  return [
    deviation(
      null,
      `the ${name} queue is ${queue.isFifo ? "a FIFO" : "a standard"} queue, and its URL says otherwise`,
      "pass the URLs of two FIFO queues, or of two standard queues",
    ),
  ];
}

function deviation(
  acceptedAs: AcceptedDeviation | null,
  message: string,
  remedy: string,
): Deviation {
  return {
    code: `outbox.doctor.sqs_${(acceptedAs ?? "queue").replace("-", "_")}`,
    severity: "error",
    message,
    remedy:
      acceptedAs === null ? remedy : `${remedy}; or accept it with { accept: ["${acceptedAs}"] }`,
    acceptedAs,
  };
}

/** What was accepted is still said, but stops nobody. */
function judged(
  deviations: readonly Deviation[],
  accept: readonly AcceptedDeviation[],
): readonly Finding[] {
  return deviations.map(({ acceptedAs, ...finding }) =>
    acceptedAs !== null && accept.includes(acceptedAs)
      ? { ...finding, severity: "info" as const }
      : finding,
  );
}

function days(ms: number): string {
  const value = ms / (24 * 60 * 60 * 1_000);
  return value >= 1 ? `${Number(value.toFixed(1))} days` : `${Number((value * 24).toFixed(2))} h`;
}
