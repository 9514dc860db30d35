import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import type { EmissionResult } from "../contract/emission-result.js";
import type { EmissionContext, Emit } from "../contract/emitter.js";
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

/** One call of the emitter. */
export class Emission {
  readonly item: WorkItem;
  /** By the monotonic clock. */
  readonly startedAtMs: number;
  state: EmissionState = "running";
  /** The emitter threw, instead of returning a result. */
  threw = false;
  #controller: AbortController | null = null;

  constructor(item: WorkItem, startedAtMs: number) {
    this.item = item;
    this.startedAtMs = startedAtMs;
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
      returned = emit(this.item.entry.envelope as EmissionEnvelope, this.#context());
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

  #context(): EmissionContext {
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

function isThenable(value: unknown): boolean {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    typeof Reflect.get(value, "then") === "function"
  );
}

/** What is written of an emission that nobody waits for any more. */
export function timedOutResult(emitTimeoutMs: number): EmissionResult {
  const message = `the emission took longer than ${emitTimeoutMs} ms`;
  return {
    status: "retryable-failure",
    error: { code: "emission.timeout", message, isRetryable: true },
  };
}
