import type { SQSClient, SQSClientConfig } from "@aws-sdk/client-sqs";
import { InvalidArgumentError } from "@outbox/core";
import { longestRetentionMs } from "./capabilities.js";
import type { SqsStoreOptions } from "./create-sqs-store.js";
import type { OutboxQueues } from "./setup/queue-checks.js";
import type { AcceptedDeviation } from "./setup/queue-findings.js";
import type { MaxReceiveCount } from "./store-context.js";

/** `SqsStoreOptions`, checked and complete. */
export interface ResolvedSqsOptions {
  readonly queues: OutboxQueues;
  readonly isFifo: boolean;
  readonly client: SQSClient | null;
  readonly receiveClient: SQSClient | null;
  readonly clientConfig: SQSClientConfig;
  readonly longPollMs: number;
  readonly callTimeoutMs: number;
  readonly deadLetterRetentionMs: number;
  readonly accept: readonly AcceptedDeviation[];
  readonly maxReceiveCount: MaxReceiveCount | null;
}

const known: readonly string[] = [
  "queues",
  "client",
  "receiveClient",
  "clientConfig",
  "longPollMs",
  "callTimeoutMs",
  "deadLetterRetentionMs",
  "accept",
  "maxReceiveCount",
  "source",
] satisfies readonly (keyof SqsStoreOptions)[];

const deviations: readonly string[] = [
  "retention",
  "redrive-policy",
  "visibility-timeout",
] satisfies readonly AcceptedDeviation[];

/** Longest long poll of SQS, in ms. */
const longestPollMs = 20_000;

export function resolveSqsOptions(options: SqsStoreOptions): ResolvedSqsOptions {
  if (typeof options !== "object" || options === null) {
    throw new InvalidArgumentError("options", "must be an object with the URLs of both queues");
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new InvalidArgumentError(
      `options.${name}`,
      `is not known here; known are: ${known.join(", ")}`,
    );
  }
  const queues = resolveQueues(options.queues);
  return {
    queues,
    isFifo: queues.pending.endsWith(".fifo"),
    ...resolveClients(options),
    longPollMs: requireMs("longPollMs", options.longPollMs ?? longestPollMs, 0, longestPollMs),
    callTimeoutMs: requireMs("callTimeoutMs", options.callTimeoutMs ?? 30_000, 100, 2 ** 31 - 1),
    deadLetterRetentionMs: requireMs(
      "deadLetterRetentionMs",
      options.deadLetterRetentionMs ?? longestRetentionMs,
      60_000,
      longestRetentionMs,
    ),
    accept: resolveAccept(options.accept ?? []),
    maxReceiveCount: resolveMaxReceiveCount(options.maxReceiveCount),
  };
}

function resolveQueues(queues: OutboxQueues): OutboxQueues {
  const urlOf = (name: "pending" | "deadLetter") => {
    const url: unknown = queues?.[name];
    if (typeof url === "string" && URL.canParse(url)) return url;
    throw new InvalidArgumentError(
      `options.queues.${name}`,
      "must be the URL of a queue, such as https://sqs.eu-central-1.amazonaws.com/123456789012/outbox",
    );
  };
  const pending = urlOf("pending");
  const deadLetter = urlOf("deadLetter");
  if (pending === deadLetter) {
    throw new InvalidArgumentError(
      "options.queues.deadLetter",
      "must be another queue than the pending one; dead letters would be claimed again",
    );
  }
  if (pending.endsWith(".fifo") !== deadLetter.endsWith(".fifo")) {
    throw new InvalidArgumentError(
      "options.queues",
      "must be two FIFO queues (their names end with .fifo) or two standard queues",
    );
  }
  return { pending, deadLetter };
}

function resolveClients({ client, receiveClient, clientConfig }: SqsStoreOptions) {
  for (const [name, one] of Object.entries({ client, receiveClient })) {
    if (one === undefined || typeof one?.send === "function") continue;
    throw new InvalidArgumentError(`options.${name}`, "must be an SQSClient: it has no send()");
  }
  if (client !== undefined && clientConfig !== undefined) {
    throw new InvalidArgumentError(
      "options.clientConfig",
      "must not be given together with client; choose one",
    );
  }
  if (client === undefined && receiveClient !== undefined) {
    throw new InvalidArgumentError(
      "options.receiveClient",
      "needs client as well; or give clientConfig, and both are made for you",
    );
  }
  return {
    client: client ?? null,
    receiveClient: receiveClient ?? null,
    clientConfig: clientConfig ?? {},
  };
}

function resolveAccept(accept: readonly AcceptedDeviation[]): readonly AcceptedDeviation[] {
  if (Array.isArray(accept) && accept.every((one) => deviations.includes(one))) return accept;
  throw new InvalidArgumentError(
    "options.accept",
    `must be a list of what to accept: ${deviations.join(", ")}`,
  );
}

function resolveMaxReceiveCount(option: MaxReceiveCount | undefined): MaxReceiveCount | null {
  if (option === undefined) return null;
  if (!Number.isInteger(option.count) || option.count < 1) {
    throw new InvalidArgumentError(
      "options.maxReceiveCount.count",
      `must be an integer from 1, not ${String(option.count)}`,
    );
  }
  if (typeof option.isSuspended !== "function") {
    throw new InvalidArgumentError(
      "options.maxReceiveCount.isSuspended",
      "must be a function that says whether the provider is down; without it an outage would dead-letter the backlog",
    );
  }
  return option;
}

function requireMs(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === "number" && value >= least && value <= most) return value;
  throw new InvalidArgumentError(
    `options.${name}`,
    `must be a duration in ms from ${least} to ${most}, not ${String(value)}`,
  );
}
