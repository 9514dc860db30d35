export interface IamPolicyOptions {
  readonly pendingArn: string;
  readonly deadLetterArn: string;
  /** Of the customer-managed key, where the queues are encrypted with one. */
  readonly kmsKeyArn?: string | undefined;
}

export interface IamPolicy {
  readonly Version: "2012-10-17";
  readonly Statement: readonly {
    readonly Effect: "Allow";
    readonly Action: readonly string[];
    readonly Resource: string;
  }[];
}

/**
 * What each role may do, and nothing else.
 *
 * - `producer`: enqueues
 * - `worker`: claims, finishes, parks and dead-letters
 * - `operator`: looks through the dead-letter queue and redrives
 */
export function iamPolicies(options: IamPolicyOptions): {
  readonly producer: IamPolicy;
  readonly worker: IamPolicy;
  readonly operator: IamPolicy;
} {
  const { pendingArn, deadLetterArn, kmsKeyArn } = options;
  const receive = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"];
  const send = ["sqs:SendMessage", "sqs:GetQueueAttributes"];
  const allow = (resource: string, ...actions: readonly string[]) => ({
    Effect: "Allow" as const,
    Action: actions,
    Resource: resource,
  });
  // Whoever sends encrypts, and SQS needs to decrypt the data key for it too.
  const key =
    kmsKeyArn === undefined ? [] : [allow(kmsKeyArn, "kms:Decrypt", "kms:GenerateDataKey")];
  const policy = (...statements: IamPolicy["Statement"]): IamPolicy => ({
    Version: "2012-10-17",
    Statement: [...statements, ...key],
  });
  return {
    producer: policy(allow(pendingArn, ...send)),
    worker: policy(allow(pendingArn, ...receive, ...send), allow(deadLetterArn, ...send)),
    operator: policy(
      allow(deadLetterArn, ...receive, "sqs:GetQueueAttributes"),
      allow(pendingArn, ...send),
    ),
  };
}
