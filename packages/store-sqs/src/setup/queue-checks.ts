import { type Finding, OutboxError } from "@outbox/core";
import { explainedError } from "../calls/explained-error.js";
import type { SqsCalls } from "../calls/sqs-calls.js";
import { type QueueAttributes, readQueueAttributes } from "./queue-attributes.js";
import {
  deadLetterQueueFindings,
  pendingQueueFindings,
  type QueueExpectations,
} from "./queue-findings.js";

/** The URLs of the two queues of an outbox. */
export interface OutboxQueues {
  /** Open entries. */
  readonly pending: string;
  /** Parked and dead-lettered entries, told apart by their status. */
  readonly deadLetter: string;
}

/** Reads the queues' attributes once, and refuses queues on which entries would be lost. */
export class QueueChecks {
  readonly #calls: SqsCalls;
  readonly #queues: OutboxQueues;
  readonly #expected: Omit<QueueExpectations, "leaseDurationMs">;
  #pending: Promise<QueueAttributes> | null = null;
  #deadLetter: Promise<QueueAttributes> | null = null;
  #retentionMs: number | null = null;

  constructor(
    calls: SqsCalls,
    queues: OutboxQueues,
    expected: Omit<QueueExpectations, "leaseDurationMs">,
  ) {
    this.#calls = calls;
    this.#queues = queues;
    this.#expected = expected;
  }

  /** What a producer needs to know; it may not be allowed to look at the dead-letter queue. */
  async pendingForEnqueue(): Promise<QueueAttributes> {
    const pending = await this.#readPending("enqueue");
    refuseErrors(pendingQueueFindings(pending, { ...this.#expected, leaseDurationMs: null }));
    return pending;
  }

  /** What a worker needs to know. */
  async bothForClaim(leaseDurationMs: number): Promise<QueuePair> {
    const pending = await this.#readPending("claim");
    this.#retentionMs = pending.retentionMs;
    const deadLetter = await this.#readDeadLetter("claim");
    const expected = { ...this.#expected, leaseDurationMs };
    refuseErrors([
      ...pendingQueueFindings(pending, expected),
      ...deadLetterQueueFindings(deadLetter, pending, expected),
    ]);
    return { pending, deadLetter };
  }

  /** The attributes as they are now, and everything that is wrong with them. */
  async lookAgain(): Promise<QueuePair & { readonly findings: readonly Finding[] }> {
    this.#pending = null;
    this.#deadLetter = null;
    const pending = await this.#readPending("checkQueues");
    const deadLetter = await this.#readDeadLetter("checkQueues");
    const expected = { ...this.#expected, leaseDurationMs: null };
    const findings = [
      ...pendingQueueFindings(pending, expected),
      ...deadLetterQueueFindings(deadLetter, pending, expected),
    ];
    return { pending, deadLetter, findings };
  }

  /** How long the pending queue keeps a message, in ms; `null` while that was not read. */
  get knownRetentionMs(): number | null {
    return this.#retentionMs;
  }

  /** The largest message that the queue takes; `null` where it cannot be read now. */
  async maxMessageBytes(queue: "pending" | "deadLetter"): Promise<number | null> {
    try {
      const attributes =
        queue === "pending" ? await this.#readPending("read") : await this.#readDeadLetter("read");
      return attributes.maxMessageBytes;
    } catch {
      // The call that follows says by itself what is wrong.
      return null;
    }
  }

  #readPending(operation: string): Promise<QueueAttributes> {
    this.#pending ??= this.#read(operation, this.#queues.pending, () => {
      this.#pending = null;
    });
    return this.#pending;
  }

  #readDeadLetter(operation: string): Promise<QueueAttributes> {
    this.#deadLetter ??= this.#read(operation, this.#queues.deadLetter, () => {
      this.#deadLetter = null;
    });
    return this.#deadLetter;
  }

  async #read(operation: string, queueUrl: string, onError: () => void): Promise<QueueAttributes> {
    try {
      return await readQueueAttributes(this.#calls, queueUrl);
    } catch (error) {
      onError();
      throw explainedError(operation, error);
    }
  }
}

export interface QueuePair {
  readonly pending: QueueAttributes;
  readonly deadLetter: QueueAttributes;
}

function refuseErrors(findings: readonly Finding[]): void {
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return;
  throw new OutboxError(
    "outbox.sqs_queue_refused",
    errors.map(({ message, remedy }) => `${message}; ${remedy}`).join(". "),
  );
}
