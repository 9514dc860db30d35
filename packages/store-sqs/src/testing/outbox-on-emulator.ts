import { randomUUID } from "node:crypto";
import type { TemporarySqs } from "@outbox/temporary-sqs";
import type { OutboxQueues } from "../setup/queue-checks.js";
import { queueDefinitions } from "../setup/queue-definitions.js";

export interface OutboxOnEmulator {
  readonly queues: OutboxQueues;
  readonly pendingName: string;
  readonly deadLetterName: string;
}

/** Two fresh queues, as `queueDefinitions` defines them. */
export async function createOutboxOnEmulator(
  sqs: TemporarySqs,
  options: {
    readonly fifo?: boolean;
    readonly attributes?: Readonly<Record<string, string>>;
    readonly deadLetterAttributes?: Readonly<Record<string, string>>;
  } = {},
): Promise<OutboxOnEmulator> {
  const name = `outbox-${randomUUID()}`;
  const { pending, deadLetter } = queueDefinitions({ name, fifo: options.fifo });
  return {
    pendingName: pending.QueueName,
    deadLetterName: deadLetter.QueueName,
    queues: {
      pending: await sqs.createQueue(pending.QueueName, {
        ...pending.Attributes,
        ...options.attributes,
      }),
      deadLetter: await sqs.createQueue(deadLetter.QueueName, {
        ...deadLetter.Attributes,
        ...options.deadLetterAttributes,
      }),
    },
  };
}
