import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import type { EmissionResult } from "../contract/emission-result.js";
import type { EmissionContext, Emit, EmitBatch } from "../contract/emitter.js";
import { OutboxError } from "../errors/outbox-error.js";
import { normalizeReturned, normalizeThrown } from "./normalize-emission-result.js";
import type { WorkItem } from "./work-item.js";

/** How an emission ended, or why nobody waits for it any more. */
export type EmissionState = "running" | "timed-out" | "lease-lost" | "stopping" | "settled";

const abortReasons = {
  "timed-out": ["outbox.emission_timeout", "the emission took longer than emitTimeoutMs"],
  "lease-lost": ["outbox.lease_lost", "the lease was lost; another worker may emit this entry"],
  stopping: ["outbox.worker_stopping", "the worker stops and has no time left"],
} as const;

/** One entry's part in a call of the emitter: all of it, or a member of a batch. */
export class Emission {
  readonly item: WorkItem;
  readonly route: string;
  /** The one emission by which a provider is asked whether it is back. */
  readonly isProbe: boolean;
  /** The same for all members of a batch. */
  readonly call: object;
  /** By the monotonic clock. */
  readonly startedAtMs: number;
  state: EmissionState = "running";
  /** One of several: what the call does as a whole cannot be counted against this entry. */
  isBatchMember = false;
  /** The emitter threw, instead of returning a result. */
  threw = false;
  #controller: AbortController | null = null;

  constructor(
    item: WorkItem,
    given: {
      readonly route: string;
      readonly isProbe: boolean;
      readonly call: object;
      readonly startedAtMs: number;
    },
  ) {
    this.item = item;
    this.route = given.route;
    this.isProbe = given.isProbe;
    this.call = given.call;
    this.startedAtMs = given.startedAtMs;
  }

  /** Calls the emitter and hands its result to `onResult`: at once, if the emitter is synchronous. */
  run(emit: Emit, onResult: (result: EmissionResult) => void): void {
    const onThrown = (thrown: unknown) => {
      this.threw = true;
      onResult(normalizeThrown(thrown));
    };
    const onReturned = (returned: unknown) => onResult(normalizeReturned(returned));
    let returned: unknown;
    try {
      returned = emit(this.envelope, this.context());
      if (isThenable(returned)) returned = Promise.resolve(returned);
    } catch (thrown) {
      onThrown(thrown);
      return;
    }
    if (returned instanceof Promise) returned.then(onReturned, onThrown);
    else onReturned(returned);
  }

  /** Tells the emitter to give up; what it still answers is judged by the new state. */
  abort(state: keyof typeof abortReasons): void {
    this.state = state;
    const [code, message] = abortReasons[state];
    this.#abortController().abort(new OutboxError(code, message));
  }

  get envelope(): EmissionEnvelope {
    return this.item.entry.envelope;
  }

  context(): EmissionContext {
    const { entry, claim } = this.item;
    const signal = () => this.#abortController().signal;
    return {
      // Most emitters that are fast never look at it, and a controller costs more than they do.
      get signal() {
        return signal();
      },
      attempt: entry.retryCount + 1,
      entry,
      claim,
      idempotencyKey: entry.envelope.envelopeId,
    };
  }

  #abortController(): AbortController {
    this.#controller ??= new AbortController();
    return this.#controller;
  }
}

/**
 * Calls a batch emitter. Each emission gets its own result, or, if the call failed as a whole, none:
 * then it cannot be told whose fault that was.
 */
export async function runBatch(
  emissions: readonly Emission[],
  emitBatch: EmitBatch,
  onResult: (emission: Emission, result: EmissionResult) => void,
  onFailedAsWhole: (emission: Emission) => void,
): Promise<void> {
  let results: unknown;
  try {
    results = await emitBatch(
      emissions.map((emission) => ({ envelope: emission.envelope, context: emission.context() })),
    );
  } catch {
    // Each member is emitted by itself, and then shows its own error.
  }
  const isComplete = Array.isArray(results) && results.length === emissions.length;
  emissions.forEach((emission, index) => {
    if (isComplete) onResult(emission, normalizeReturned((results as unknown[])[index]));
    else onFailedAsWhole(emission);
  });
}

function isThenable(value: unknown): boolean {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    typeof Reflect.get(value, "then") === "function"
  );
}

/** What is written of an emission that nobody waits for any more. */
export function timedOutResult(
  emitTimeoutMs: number,
): Extract<EmissionResult, { status: "retryable-failure" }> {
  const message = `the emission took longer than ${emitTimeoutMs} ms`;
  return {
    status: "retryable-failure",
    error: { code: "emission.timeout", message, isRetryable: true },
  };
}
