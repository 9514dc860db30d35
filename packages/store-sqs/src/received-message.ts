import type { Message } from "@aws-sdk/client-sqs";
import type { Snapshot } from "./snapshot/snapshot.js";

/** A message as it was received, under the lease that the receive began. */
export interface ReceivedMessage {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** Text attributes, for a body that is passed on as it is. */
  readonly attributes: Readonly<Record<string, string>>;
  /** By SQS's clock, in ms since 1970. */
  readonly sentAtMs: number;
  /** How often this message was received, this time included; releases and crashes count. */
  readonly receiveCount: number;
  readonly groupId: string | null;
  /** When its visibility timeout began at the earliest, by the monotonic clock. */
  readonly leasedAtMs: number;
  readonly leaseDurationMs: number;
}

/** One whose body is an entry; the body itself has done its work. */
export interface ReceivedEntry extends Omit<ReceivedMessage, "body" | "attributes"> {
  readonly snapshot: Snapshot;
}

/** What a receive must ask for so that `toReceivedMessage` has it. */
export const neededAttributes = [
  "SentTimestamp",
  "ApproximateReceiveCount",
  "MessageGroupId",
] as const;

export function toReceivedMessage(
  message: Message,
  lease: Pick<ReceivedMessage, "leasedAtMs" | "leaseDurationMs">,
): ReceivedMessage {
  const { MessageId = "", ReceiptHandle = "", Body = "", Attributes = {} } = message;
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: textAttributes(message),
    sentAtMs: Number(Attributes.SentTimestamp ?? 0),
    receiveCount: Number(Attributes.ApproximateReceiveCount ?? 1),
    groupId: Attributes.MessageGroupId ?? null,
    ...lease,
  };
}

/** A claim's token: the receipt handle, and which send of its entry the message is. */
export function claimTokenOf({ snapshot, receiptHandle }: ReceivedEntry): string {
  return `${snapshot.generation}:${receiptHandle}`;
}

export function parseClaimToken(claimToken: string): {
  readonly generation: number;
  readonly receiptHandle: string;
} {
  const [, generation, receiptHandle] = /^(\d{1,15}):(.+)$/s.exec(claimToken) ?? [];
  return generation === undefined || receiptHandle === undefined
    ? { generation: 0, receiptHandle: claimToken }
    : { generation: Number(generation), receiptHandle };
}

function textAttributes({ MessageAttributes = {} }: Message): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(MessageAttributes).flatMap(([name, { StringValue }]) =>
      StringValue === undefined ? [] : [[name, StringValue]],
    ),
  );
}
