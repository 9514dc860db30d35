import type { ServiceInputTypes, SQSClient } from "@aws-sdk/client-sqs";

/** The commands of a store, by what the SDK calls them. */
export type CommandName =
  | "SendMessageBatchCommand"
  | "ReceiveMessageCommand"
  | "DeleteMessageBatchCommand"
  | "ChangeMessageVisibilityBatchCommand"
  | "GetQueueAttributesCommand";

export interface BatchMember {
  readonly Id: string;
  readonly MessageBody?: string;
  readonly MessageDeduplicationId?: string;
  readonly ReceiptHandle?: string;
  readonly VisibilityTimeout?: number;
}

/** What a call asks for, as far as faults look at it. */
export interface CallInput {
  readonly QueueUrl: string;
  readonly Entries?: readonly BatchMember[];
  readonly MaxNumberOfMessages?: number;
  readonly WaitTimeSeconds?: number;
  readonly ReceiveRequestAttemptId?: string;
}

/** A reply, as far as faults change it. */
export interface CallOutput {
  Successful?: { Id: string }[];
  Failed?: { Id: string; Code: string; Message: string; SenderFault: boolean }[];
  Messages?: { MessageId: string; ReceiptHandle: string; Body: string }[];
  Attributes?: Record<string, string>;
}

/** Behaves badly instead of `proceed`, or around it. */
export type Fault = (
  input: CallInput,
  proceed: (input?: CallInput) => Promise<CallOutput>,
) => Promise<CallOutput>;

/** What an emulator will not do, done between the store and the emulator. Counts every call. */
export class Faults {
  readonly calls: { readonly command: CommandName; readonly input: CallInput }[] = [];
  readonly #faults = new Map<CommandName, Fault[]>();
  readonly #standing = new Map<CommandName, Fault>();

  applyTo(client: SQSClient): SQSClient {
    client.middlewareStack.add(
      (next, context) => async (args) => {
        const command = context["commandName"] as CommandName;
        const input = args.input as CallInput;
        this.calls.push({ command, input });
        const proceed = async (changed: CallInput = input) => {
          const result = await next({ ...args, input: changed as ServiceInputTypes });
          return result.output as CallOutput;
        };
        const fault = this.#faults.get(command)?.shift() ?? this.#standing.get(command);
        const output = await (fault === undefined ? proceed() : fault(input, proceed));
        return { output: output as never, response: {} };
      },
      { step: "initialize", name: "faults", priority: "low" },
    );
    return client;
  }

  /** For the next calls of this command, one after the other. */
  next(command: CommandName, ...faults: readonly Fault[]): void {
    this.#faults.set(command, [...(this.#faults.get(command) ?? []), ...faults]);
  }

  /** For every call of this command that no other fault is for; `null` ends it. */
  always(command: CommandName, fault: Fault | null): void {
    if (fault === null) this.#standing.delete(command);
    else this.#standing.set(command, fault);
  }

  count(command?: CommandName): number {
    return this.calls.filter((call) => command === undefined || call.command === command).length;
  }

  inputs(command: CommandName): readonly CallInput[] {
    return this.calls.filter((call) => call.command === command).map(({ input }) => input);
  }

  forgetCalls(): void {
    this.calls.length = 0;
  }
}

/** An error as the SDK throws it. */
export function sqsError(name: string, message = name, status = 400): Error {
  const error = new Error(message);
  error.name = name;
  return Object.assign(error, { $metadata: { httpStatusCode: status } });
}

export const throwing =
  (error: Error): Fault =>
  async () => {
    throw error;
  };

/** SQS does it, and the reply is lost. */
export const applyThenTimeOut: Fault = async (_input, proceed) => {
  await proceed();
  throw sqsError("TimeoutError", "the connection timed out");
};

/** These members fail, the others go through. */
export const failMembers =
  (
    code: string,
    isFailed: (member: BatchMember, index: number) => boolean,
    options: { readonly message?: string; readonly senderFault?: boolean } = {},
  ): Fault =>
  async (input, proceed) => {
    const { Entries = [] } = input;
    const failed = Entries.filter(isFailed);
    const others = Entries.filter((member) => !failed.includes(member));
    const output = others.length === 0 ? {} : await proceed({ ...input, Entries: others });
    return {
      ...output,
      Failed: [
        ...(output.Failed ?? []),
        ...failed.map(({ Id }) => ({
          Id,
          Code: code,
          Message: options.message ?? code,
          SenderFault: options.senderFault ?? true,
        })),
      ],
    };
  };
