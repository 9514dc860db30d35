import { OutboxError } from "@outbox/core";
import { explainedError } from "./calls/explained-error.js";
import type { SqsCalls } from "./calls/sqs-calls.js";
import { readQueueAttributes } from "./setup/queue-attributes.js";

/** Messages in flight that SQS allows, for either kind of queue, unless one asks for more. */
const inFlightQuota = 120_000;

/** The share of it that explains why nothing is received. */
const suspiciousShare = 0.9;

/** How often an empty queue is asked why, in ms. */
const intervalMs = 60_000;

/**
 * At its quota of messages in flight SQS answers a long poll with nothing, and no error: a worker
 * would take a full queue for an empty one.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
 */
export class QuotaWatch {
  readonly #calls: SqsCalls;
  readonly #queueUrl: string;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(calls: SqsCalls, queueUrl: string) {
    this.#calls = calls;
    this.#queueUrl = queueUrl;
  }

  /**
   * Called when nothing was received.
   * @throws OutboxError `outbox.sqs_in_flight_quota`, from which workers back off and which their
   * health shows
   */
  async look(emptyPolls: number): Promise<void> {
    const now = performance.now();
    if (emptyPolls < 2 || now - this.#lookedAtMs < intervalMs) return;
    const { counts } = await readQueueAttributes(this.#calls, this.#queueUrl).catch(
      (error: unknown) => {
        throw explainedError("claim", error);
      },
    );
    if (counts.inFlight < inFlightQuota * suspiciousShare) {
      this.#lookedAtMs = now;
      return;
    }
    throw new OutboxError(
      "outbox.sqs_in_flight_quota",
      `nothing can be received, and ${counts.inFlight} messages are in flight, near SQS's quota of ${inFlightQuota}: find the workers that hold so much, shorten leases, or ask AWS for a higher quota`,
      { isTransient: true },
    );
  }
}
