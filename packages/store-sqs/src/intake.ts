import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { largestBatch } from "./calls/run-batch.js";
import { giveBack } from "./calls/visibility.js";
import type { GroupHold } from "./fifo/group-hold.js";
import { ReceiveAttempts } from "./fifo/receive-attempts.js";
import {
  neededAttributes,
  type ReceivedEntry,
  type ReceivedMessage,
  toReceivedMessage,
} from "./received-message.js";
import type { StoreContext } from "./store-context.js";

export interface IntakeRequest {
  readonly leaseDurationMs: number;
  readonly maxCount: number;
}

export interface Taken {
  readonly entries: readonly ReceivedEntry[];
  /** SQS gave as much as it was asked for, so there is likely more. */
  readonly wasFull: boolean;
}

interface Received extends Taken {
  /** Messages, entries or not. */
  readonly count: number;
}

/** Sorts out what is no entry to be handed out now, and sees to the rest. */
export type Admit = (messages: readonly ReceivedMessage[]) => Promise<readonly ReceivedEntry[]>;

/** Receives of one claim at a time. */
const receivesAtATime = 10;

/** Asks every server of the queue; a poll that does not wait asks only some of them. */
const shortestPollMs = 1_000;

/** How long a claim waits for a member of a group that this process holds already, in ms. */
const longestHoldWaitMs = 1_000;

/**
 * Receives messages: one receive first, which may wait, and if that one is full as many more as are
 * wanted, side by side. No receive is ever aborted: what it brings after the store was closed is
 * given back.
 */
export class Intake {
  readonly #context: StoreContext;
  readonly #admit: Admit;
  readonly #attempts = new ReceiveAttempts();
  readonly #underWay = new Set<Promise<unknown>>();
  /** The receives of an earlier claim, which had something in hand and did not wait for them. */
  #lingering: Promise<boolean> | null = null;
  #isClosing = false;
  #emptyPolls = 0;

  constructor(context: StoreContext, admit: Admit) {
    this.#context = context;
    this.#admit = admit;
  }

  /** Polls in a row that brought nothing. */
  get emptyPolls(): number {
    return this.#emptyPolls;
  }

  take(request: IntakeRequest): Promise<Taken> {
    return this.#track(this.#take(request));
  }

  /** Waits for what is under way, and gives back what nobody has. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    await this.#giveBack(this.#context.hold?.removeAll() ?? []);
  }

  async #take(request: IntakeRequest): Promise<Taken> {
    const { hold } = this.#context;
    const taken = await (hold === null
      ? this.#receiveMany(request)
      : this.#takeFromGroups(request, hold));
    if (!this.#isClosing) return taken;
    // Nobody could finish them any more.
    await this.#giveBack(taken.entries);
    return { entries: [], wasFull: false };
  }

  async #takeFromGroups(request: IntakeRequest, hold: GroupHold): Promise<Taken> {
    hold.prune(performance.now());
    const earlier = this.#lingering;
    const entries = [...hold.takeReady(request.maxCount)];
    let wasFull = await this.#fill(hold, request, entries.length);
    entries.push(...hold.takeReady(request.maxCount - entries.length));
    // An earlier claim's receive may have been answered before that claim's entries left the queue.
    if (earlier !== null && entries.length === 0 && hold.size === 0) {
      wasFull = await this.#fill(hold, request, 0);
      entries.push(...hold.takeReady(request.maxCount));
    }
    return { entries, wasFull: wasFull || this.#lingering !== null || hold.size > 0 };
  }

  /** Receives into what is held; waits for it only where nothing is in hand yet. */
  async #fill(hold: GroupHold, request: IntakeRequest, inHand: number): Promise<boolean> {
    const room = roomFor(request.maxCount, inHand + hold.size);
    if (room > 0) {
      const isBusy = inHand + hold.size > 0;
      this.#lingering ??= this.#receiveInto(hold, { ...request, maxCount: room }, isBusy);
    }
    if (inHand > 0) return false;
    if (room > 0 && this.#lingering !== null) {
      return (await Promise.race([this.#lingering, hold.whenReady()])) ?? true;
    }
    await Promise.race([hold.whenReady(), unrefPause(longestHoldWaitMs)]);
    return false;
  }

  /** Answers whether SQS gave as much as it was asked for. */
  #receiveInto(hold: GroupHold, request: IntakeRequest, isBusy: boolean): Promise<boolean> {
    const receiving = this.#receiveMany(request, isBusy)
      .then(({ entries, wasFull }) => {
        hold.add(entries);
        return wasFull;
      })
      .finally(() => {
        this.#lingering = null;
      });
    // The claim that waits for it hears of its failure; if none does, the next receive fails too.
    receiving.catch(() => {});
    return this.#track(receiving);
  }

  async #receiveMany(request: IntakeRequest, isBusy = false): Promise<Received> {
    const { maxCount, leaseDurationMs } = request;
    const first = await this.#receive(
      request,
      Math.min(largestBatch, maxCount),
      this.#pollMs(leaseDurationMs, isBusy),
    );
    this.#emptyPolls = first.count === 0 ? this.#emptyPolls + 1 : 0;
    const wanted = maxCount - first.count;
    if (!first.wasFull || wanted <= 0) return first;
    const others = await this.#receiveSideBySide(request, wanted);
    return {
      entries: [first, ...others].flatMap(({ entries }) => entries),
      count: [first, ...others].reduce((sum, { count }) => sum + count, 0),
      wasFull: others.every(({ wasFull }) => wasFull),
    };
  }

  async #receiveSideBySide(request: IntakeRequest, wanted: number): Promise<readonly Received[]> {
    const results: Received[] = [];
    let left = wanted;
    const lane = async () => {
      while (left > 0) {
        const count = Math.min(largestBatch, left);
        left -= count;
        // The first receive did its work: what fails here is met by the next claim's first one.
        const nothing = { entries: [], count: 0, wasFull: false };
        const received = await this.#receive(request, count, 0).catch(() => nothing);
        results.push(received);
        if (!received.wasFull) left = 0;
      }
    };
    const lanes = Math.min(receivesAtATime, Math.ceil(wanted / largestBatch));
    await Promise.all(Array.from({ length: lanes }, lane));
    return results;
  }

  async #receive(
    { leaseDurationMs }: IntakeRequest,
    count: number,
    waitMs: number,
  ): Promise<Received> {
    const { calls, clock, queues, isFifo } = this.#context;
    const attempt = isFifo ? this.#attempts.next(performance.now()) : null;
    const command = new ReceiveMessageCommand({
      QueueUrl: queues.pending,
      MaxNumberOfMessages: count,
      VisibilityTimeout: Math.ceil(leaseDurationMs / 1_000),
      WaitTimeSeconds: waitMs / 1_000,
      MessageSystemAttributeNames: [...neededAttributes],
      MessageAttributeNames: ["All"],
      ...(attempt === null ? {} : { ReceiveRequestAttemptId: attempt.id }),
    });
    const { output, sentAtMs, receivedAtMs, dateHeader } = await calls
      .receive(command, waitMs)
      .catch((error: unknown) => {
        if (attempt !== null) this.#attempts.lost(attempt);
        throw error;
      });
    // The lease of a long poll begins near its end; a reply that was held up on its way is older.
    const leasedAtMs = Math.max(
      sentAtMs,
      Math.min(receivedAtMs - calls.roundTripMs, clock.latestSendMs(dateHeader)),
    );
    const messages = (output.Messages ?? []).map((message) =>
      toReceivedMessage(message, { leasedAtMs, leaseDurationMs }),
    );
    for (const { sentAtMs } of messages) clock.notePast(sentAtMs, receivedAtMs);
    const wasFull = messages.length === count;
    return { entries: await this.#admit(messages), count: messages.length, wasFull };
  }

  /** Longer while nothing comes; never so long that the wait uses up the lease. */
  #pollMs(leaseDurationMs: number, isBusy: boolean): number {
    const longest = Math.min(this.#context.longPollMs, leaseDurationMs / 4);
    const isIdle = this.#emptyPolls > 0 && !isBusy;
    const wanted = isIdle ? longest : Math.min(longest, shortestPollMs);
    return Math.floor(wanted / 1_000) * 1_000;
  }

  async #giveBack(messages: readonly Pick<ReceivedMessage, "receiptHandle">[]): Promise<void> {
    const { calls, queues } = this.#context;
    if (messages.length > 0) await giveBack(calls, queues.pending, messages);
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay.add(work);
    const done = () => void this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }
}

/** Whole receives where something is in hand already: half-full ones cost as much. */
function roomFor(maxCount: number, inHand: number): number {
  const room = maxCount - inHand;
  return inHand === 0 ? room : Math.floor(room / largestBatch) * largestBatch;
}

function unrefPause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
