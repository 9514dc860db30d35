import { OutboxError, StoreError } from "@outbox/core";
import { classifyError } from "../classify-error.js";

/** What to do about an error, by the code that SQS or the SDK gave it. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [
    /^(AccessDenied|KmsAccessDenied|UnauthorizedOperation)/,
    "the role lacks a permission: iamPolicies() prints what producers, workers and operators need",
  ],
  [
    /^(QueueDoesNotExist|NonExistentQueue|AWS\.SimpleQueueService\.NonExistentQueue)/,
    "check options.queues: URLs, account and region; queueDefinitions() prints what to create",
  ],
  [
    /^(CredentialsProviderError|ExpiredToken|TokenProviderError|TokenRefreshRequired|UnrecognizedClient|InvalidClientTokenId|InvalidSignature|SignatureDoesNotMatch|MissingAuthenticationToken)/,
    "the credentials are missing, wrong or have run out; give the client a provider that renews them",
  ],
  [/^OverLimit/, "the queue has as many messages in flight as SQS allows; see docs/stores/sqs.md"],
  [
    /Throttl|^TooManyRequests|^RequestLimitExceeded/,
    "SQS asks for fewer requests; they are repeated later",
  ],
];

/**
 * Any error of a call as a store error that says what to do. It is not repeated at once by anybody:
 * the calls here have their own patience, and workers come back with backoff.
 */
export function explainedError(operation: string, error: unknown): OutboxError {
  if (OutboxError.isInstance(error)) return error;
  const kind = classifyError(error);
  return new StoreError(
    operation,
    kind,
    `sqs store: ${operation} failed (${kind}): ${describeError(error)}`,
    error,
  );
}

/** `name: message`, with what to do where that is known. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const remedy = remedyOf(error.name) ?? remedyOf(error.message);
  const what = `${error.name}: ${error.message}`;
  return remedy === undefined ? what : `${what} (${remedy})`;
}

function remedyOf(text: string): string | undefined {
  return remedies.find(([pattern]) => pattern.test(text))?.[1];
}
