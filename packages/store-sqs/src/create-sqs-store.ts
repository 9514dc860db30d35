import { SQSClient, type SQSClientConfig } from "@aws-sdk/client-sqs";
import {
  type DefinedStore,
  defineStore,
  type EventMap,
  type Finding,
  type StoreOptions,
} from "@outbox/core";
import { SqsCalls } from "./calls/sqs-calls.js";
import { sqsFifoCapabilities, sqsStandardCapabilities } from "./capabilities.js";
import { ClaimedMessages } from "./claimed-messages.js";
import { GroupHold } from "./fifo/group-hold.js";
import { RememberedWrites } from "./fifo/remembered-writes.js";
import { FinishedClaims } from "./finished-claims.js";
import { type DeadLetterSelection, redriveDeadLetters } from "./redrive.js";
import { type ResolvedSqsOptions, resolveSqsOptions } from "./resolve-sqs-options.js";
import { ServerClock } from "./server-clock.js";
import type { QueueCounts } from "./setup/queue-attributes.js";
import { type OutboxQueues, QueueChecks } from "./setup/queue-checks.js";
import type { AcceptedDeviation } from "./setup/queue-findings.js";
import { createDriver } from "./sqs-driver.js";
import type { MaxReceiveCount, StoreContext } from "./store-context.js";

export interface SqsStoreOptions extends StoreOptions {
  /** The URLs of two queues of one kind; `queueDefinitions` says how to create them. */
  readonly queues: OutboxQueues;
  /**
   * A client of the application's, never closed here. Leave it 32 sockets (the SDK's own default
   * is 50), or give long polls a `receiveClient` of their own.
   */
  readonly client?: SQSClient | undefined;
  /** A client for receives alone. @defaultValue `client` */
  readonly receiveClient?: SQSClient | undefined;
  /**
   * Settings of the SDK, for two clients that the store makes at once, one of them for receives,
   * and closes. Not together with `client`. The store repeats by itself, so `maxAttempts` is 1
   * unless it is set.
   * @defaultValue what the SDK finds in the environment
   */
  readonly clientConfig?: SQSClientConfig | undefined;
  /**
   * How long an empty poll waits for a message, in ms, from 0 to 20 000; at most a quarter of the
   * lease.
   * @defaultValue 20 000
   */
  readonly longPollMs?: number | undefined;
  /** How long to wait for a reply beyond that, in ms; at least 100. @defaultValue 30 000 */
  readonly callTimeoutMs?: number | undefined;
  /** How long the dead-letter queue keeps messages, in ms. @defaultValue 14 days */
  readonly deadLetterRetentionMs?: number | undefined;
  /** What of the queues' attributes to accept although it is refused by default. @defaultValue none */
  readonly accept?: readonly AcceptedDeviation[] | undefined;
  /**
   * Dead-letters an entry whose message was received more often than `count` times, without asking
   * any emitter: for messages that kill their workers. Releases of *other* workers count too, so
   * leave it high. While `isSuspended()` is true nothing is dead-lettered for it: answer whether
   * the provider is down, e.g. `() => worker.health().openCircuits.length > 0`.
   * @defaultValue off
   */
  readonly maxReceiveCount?: MaxReceiveCount | undefined;
}

/** What an SQS store can do beyond the contract. */
export interface SqsOperations {
  /** What is wrong with the queues' attributes as they are now, each with its remedy. */
  checkQueues(): Promise<readonly Finding[]>;
  /** SQS's own approximate counts of both queues. */
  approximateCounts(): Promise<{ readonly pending: QueueCounts; readonly deadLetter: QueueCounts }>;
  /** Redrives by predicate and count; the contract's `redrive` does so by filter. */
  redriveDeadLetters(selection?: DeadLetterSelection): Promise<{ readonly count: number }>;
}

export type SqsStore<Events extends EventMap = EventMap> = DefinedStore<
  ReturnType<typeof createDriver>,
  Events
> &
  SqsOperations;

/** The driver alone, for whoever puts something around it before `defineStore`. */
export function createSqsDriver(options: SqsStoreOptions) {
  return driverOn(createContext(resolveSqsOptions(options)));
}

/**
 * An outbox in two SQS queues, for where there is no database to share a transaction with. Nothing
 * is sent before the first call.
 *
 * @throws InvalidArgumentError naming the option
 */
export function createSqsStore<Events extends EventMap = EventMap>(
  options: SqsStoreOptions,
): SqsStore<Events> {
  const created = createContext(resolveSqsOptions(options));
  const { context } = created;
  const operations: SqsOperations = {
    checkQueues: async () => (await context.checks.lookAgain()).findings,
    approximateCounts: async () => {
      const { pending, deadLetter } = await context.checks.lookAgain();
      return { pending: pending.counts, deadLetter: deadLetter.counts };
    },
    redriveDeadLetters: (selection = {}) => redriveDeadLetters(context, selection),
  };
  return Object.assign(
    defineStore(driverOn(created), { source: options.source }),
    operations,
  ) as SqsStore<Events>;
}

interface Created {
  readonly context: StoreContext;
  readonly options: ResolvedSqsOptions;
  closeClients(): void;
}

function driverOn({ context, options, closeClients }: Created) {
  const kind = options.isFifo ? sqsFifoCapabilities : sqsStandardCapabilities;
  const capabilities = { ...kind, maxParkedAgeMs: options.deadLetterRetentionMs };
  return createDriver(context, capabilities, closeClients);
}

function createContext(options: ResolvedSqsOptions): Created {
  const { queues, isFifo, accept, deadLetterRetentionMs } = options;
  const { client, receiveClient, own } = clientsOf(options);
  const clock = new ServerClock();
  const { callTimeoutMs } = options;
  const calls = new SqsCalls({ client, receiveClient, clock, callTimeoutMs });
  return {
    options,
    closeClients: () => {
      for (const one of own) one.destroy();
    },
    context: {
      queues,
      isFifo,
      calls,
      clock,
      checks: new QueueChecks(calls, queues, { isFifo, accept, deadLetterRetentionMs }),
      longPollMs: options.longPollMs,
      maxReceiveCount: options.maxReceiveCount,
      claimed: new ClaimedMessages(),
      finished: new FinishedClaims(),
      remembered: new RememberedWrites(),
      hold: isFifo ? new GroupHold() : null,
    },
  };
}

function clientsOf({ client, receiveClient, clientConfig }: ResolvedSqsOptions) {
  if (client !== null) return { client, receiveClient: receiveClient ?? client, own: [] };
  const make = () => new SQSClient({ maxAttempts: 1, ...clientConfig });
  const own = [make(), make()] as const;
  return { client: own[0], receiveClient: own[1], own };
}
