import type { SQSClient, SQSClientConfig } from "@aws-sdk/client-sqs";

/** A running emulator with a clock of its own. */
export interface TemporarySqs extends AsyncDisposable {
  /** For any client: where it is, and credentials that it takes. */
  readonly clientConfig: SQSClientConfig & { readonly endpoint: string };
  /** A client of this process, ended by `stop`. */
  readonly client: SQSClient;
  createQueue(name: string, attributes?: Readonly<Record<string, string>>): Promise<string>;
  /** Lets the emulator's time pass. */
  advance(ms: number): Promise<void>;
  /** The emulator's clock, in ms since 1970. */
  now(): Promise<number>;
  inspect(queueName: string): Promise<QueueContents>;
  /** Another one, with other queues and another clock; to be stopped before this one. */
  openAnother(): Promise<TemporarySqs>;
  stop(): Promise<void>;
}

/** A message as it is in the queue. */
export interface QueuedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly messageAttributes: Readonly<Record<string, { readonly StringValue?: string }>>;
  readonly sentTimestamp: number;
  readonly approximateReceiveCount: number;
  /** While it is delayed, until when, in ms since 1970. */
  readonly delayUntil?: number;
  readonly messageGroupId?: string;
  readonly messageDeduplicationId?: string;
  readonly sequenceNumber?: string;
}

/** What is in a queue, seen past any receive. */
export interface QueueContents {
  readonly ready: readonly QueuedMessage[];
  readonly delayed: readonly QueuedMessage[];
  readonly inflight: readonly {
    readonly message: QueuedMessage;
    readonly receiptHandle: string;
    readonly visibilityDeadline: number;
  }[];
}
