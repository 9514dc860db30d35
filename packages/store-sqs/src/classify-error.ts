import type { StoreErrorKind } from "@outbox/core";

/** SQS says that this receipt handle is not, or no longer, that of a message in flight. */
export type SqsErrorKind = StoreErrorKind | "stale-handle";

/**
 * Kinds by error code: the name of a thrown error, or the code of a failed member of a batch.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html
 */
const kindByCode: Readonly<Record<string, SqsErrorKind>> = {
  // Throttled, by SQS or by KMS: refused before anything was done.
  BandwidthLimitExceeded: "transient",
  EC2ThrottledException: "transient",
  KmsThrottled: "transient",
  LimitExceededException: "transient",
  OverLimit: "transient",
  PriorRequestNotComplete: "transient",
  ProvisionedThroughputExceededException: "transient",
  RequestLimitExceeded: "transient",
  RequestThrottled: "transient",
  RequestThrottledException: "transient",
  SlowDown: "transient",
  Throttling: "transient",
  ThrottlingException: "transient",
  ThrottledException: "transient",
  TooManyRequestsException: "transient",
  TransactionInProgressException: "transient",
  ServiceUnavailable: "transient",
  ServiceUnavailableException: "transient",
  // The queue was created or purged just now.
  QueueDeletedRecently: "transient",
  PurgeQueueInProgress: "transient",
  // Credentials that have run out are renewed by whoever provides them.
  CredentialsProviderError: "transient",
  ExpiredToken: "transient",
  ExpiredTokenException: "transient",
  RequestExpired: "transient",
  RequestTimeTooSkewed: "transient",
  TokenProviderError: "transient",
  TokenRefreshRequired: "transient",

  // It may have been done, and its reply lost.
  AbortError: "unknown-outcome",
  InternalError: "unknown-outcome",
  InternalFailure: "unknown-outcome",
  InternalServerError: "unknown-outcome",
  RequestTimeout: "unknown-outcome",
  RequestTimeoutException: "unknown-outcome",
  TimeoutError: "unknown-outcome",

  // This message, not the others of its batch.
  BatchRequestTooLong: "invalid-data",
  InvalidMessageContents: "invalid-data",
  InvalidParameterValue: "invalid-data",
  InvalidParameterValueException: "invalid-data",
  InvalidAttributeValue: "invalid-data",

  InvalidIdFormat: "stale-handle",
  MessageNotInflight: "stale-handle",
  ReceiptHandleIsInvalid: "stale-handle",
};

/** Codes of Node.js for a request that was never sent. */
const neverSent: ReadonlySet<string> = new Set([
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "EMFILE",
  "ENETDOWN",
  "ENETUNREACH",
  "ENFILE",
  "ENOTFOUND",
]);

/** Codes of Node.js for a connection that was lost; the request may have arrived. */
const connectionLost: ReadonlySet<string> = new Set([
  "ECONNABORTED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ERR_SOCKET_CLOSED",
]);

/** By error code and HTTP status. */
export function classifySqsError(error: unknown): SqsErrorKind {
  if (typeof error !== "object" || error === null) return "permanent";
  const name = textOf(error, "name");
  const code = textOf(error, "code");
  const message = textOf(error, "message") ?? "";
  for (const one of [name, code]) {
    if (one === undefined) continue;
    if (neverSent.has(one)) return "transient";
    if (connectionLost.has(one)) return "unknown-outcome";
    const kind = classifyCode(one, message);
    if (kind !== undefined) return kind;
  }
  const status = statusOf(error);
  if (status === 429 || status === 503) return "transient";
  return status !== undefined && status >= 500 ? "unknown-outcome" : "permanent";
}

/** The kind of a failed member of a batch. */
export function classifyBatchError(failed: {
  readonly Code: string | undefined;
  readonly Message?: string | undefined;
  readonly SenderFault?: boolean | undefined;
}): SqsErrorKind {
  const kind = classifyCode(failed.Code ?? "", failed.Message ?? "");
  return kind ?? (failed.SenderFault === false ? "unknown-outcome" : "permanent");
}

/** For core, which knows no handles: a stale one that nobody expected repeats in vain. */
export function classifyError(error: unknown): StoreErrorKind {
  const kind = classifySqsError(error);
  return kind === "stale-handle" ? "permanent" : kind;
}

function classifyCode(code: string, message: string): SqsErrorKind | undefined {
  // Older protocols put a prefix before it: AWS.SimpleQueueService.MessageNotInflight.
  const kind = kindByCode[code.slice(code.lastIndexOf(".") + 1)];
  // The one code for every bad value: only its text says which parameter it was.
  return kind === "invalid-data" && /receipt ?handle/i.test(message) ? "stale-handle" : kind;
}

function textOf(error: object, property: string): string | undefined {
  const value: unknown = Reflect.get(error, property);
  return typeof value === "string" ? value : undefined;
}

function statusOf(error: object): number | undefined {
  const metadata: unknown = Reflect.get(error, "$metadata");
  const status: unknown =
    typeof metadata === "object" && metadata !== null
      ? Reflect.get(metadata, "httpStatusCode")
      : undefined;
  return typeof status === "number" ? status : undefined;
}
