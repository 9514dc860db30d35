import type {
  $Command,
  ServiceInputTypes,
  ServiceOutputTypes,
  SQSClient,
  SQSClientResolvedConfig,
} from "@aws-sdk/client-sqs";
import type { ServerClock } from "../server-clock.js";
import { CallSlots } from "./call-slots.js";

/** Any command of the SQS client. */
type SqsCommand<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  SQSClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;

/** A reply, with when it was asked for and came by the monotonic clock (the last try of the SDK). */
export interface Timed<Output> {
  readonly output: Output;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  readonly dateHeader: string | undefined;
}

export interface SqsCallsOptions {
  /** For everything but receives. */
  readonly client: SQSClient;
  /** For receives, so that long polls do not take the sockets of renewals and deletes. */
  readonly receiveClient: SQSClient;
  readonly clock: ServerClock;
  /** How long to wait for a reply, beyond the wait of a long poll, in ms. */
  readonly callTimeoutMs: number;
}

/** Calls at a time beside receives: fewer than the sockets of a client. */
const callsAtATime = 16;

/** Every call to SQS goes through here: a time limit, and the reply's Date for the clock. */
export class SqsCalls {
  readonly #options: SqsCallsOptions;
  readonly #slots = new CallSlots(callsAtATime);
  #roundTripMs = 0;
  #roundTripDeviationMs = 0;

  constructor(options: SqsCallsOptions) {
    this.#options = options;
  }

  /** What a call takes that does not wait, with room for its variation, in ms. */
  get roundTripMs(): number {
    return this.#roundTripMs + 4 * this.#roundTripDeviationMs;
  }

  async call<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: SqsCommand<Input, Output>,
  ): Promise<Output> {
    const { client, callTimeoutMs } = this.#options;
    const timed = await this.#slots.run(() => this.#send(client, command, callTimeoutMs));
    this.#noteRoundTrip(timed.receivedAtMs - timed.sentAtMs);
    return timed.output;
  }

  /** A receive, which is never cut short but by its own time limit. */
  async receive<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: SqsCommand<Input, Output>,
    waitMs: number,
  ): Promise<Timed<Output>> {
    const { receiveClient, callTimeoutMs } = this.#options;
    const timed = await this.#send(receiveClient, command, waitMs + callTimeoutMs);
    if (waitMs === 0) this.#noteRoundTrip(timed.receivedAtMs - timed.sentAtMs);
    return timed;
  }

  async #send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    client: SQSClient,
    command: SqsCommand<Input, Output>,
    timeoutMs: number,
  ): Promise<Timed<Output>> {
    let sentAtMs = performance.now();
    let receivedAtMs = sentAtMs;
    let dateHeader: string | undefined;
    // On the command, not on the client, which may be the application's.
    command.middlewareStack.add(
      (next) => async (args) => {
        sentAtMs = performance.now();
        const result = await next(args);
        receivedAtMs = performance.now();
        dateHeader = dateOf(result.response);
        this.#options.clock.note(dateHeader, sentAtMs, receivedAtMs);
        return result;
      },
      { step: "deserialize", name: "outboxServerClock", override: true },
    );
    const abortSignal = AbortSignal.timeout(timeoutMs);
    const output = await client.send<Input, Output>(command, { abortSignal });
    return { output, sentAtMs, receivedAtMs, dateHeader };
  }

  /** As TCP reckons its time-outs: a smoothed mean and deviation (RFC 6298). */
  #noteRoundTrip(ms: number): void {
    if (this.#roundTripMs === 0) {
      this.#roundTripMs = ms;
      this.#roundTripDeviationMs = ms / 2;
      return;
    }
    this.#roundTripDeviationMs +=
      (Math.abs(ms - this.#roundTripMs) - this.#roundTripDeviationMs) / 4;
    this.#roundTripMs += (ms - this.#roundTripMs) / 8;
  }
}

function dateOf(response: unknown): string | undefined {
  const headers: unknown =
    typeof response === "object" && response !== null
      ? Reflect.get(response, "headers")
      : undefined;
  const date: unknown =
    typeof headers === "object" && headers !== null ? Reflect.get(headers, "date") : undefined;
  return typeof date === "string" ? date : undefined;
}
