import { channel } from "node:diagnostics_channel";
import type { EmissionResult } from "../contract/emission-result.js";
import type { TransitionKind, TransitionOutcome } from "../contract/transition.js";
import { callGuarded } from "./call-guarded.js";

/** Which entry an event is about. No payload is in any event. */
export interface EventEntry {
  readonly entryId: string;
  readonly envelopeId: string;
  readonly type: string;
  readonly destination: string;
}

/** What happens in a drain or worker, one event per `type`. Durations in ms. */
export type OutboxEvent = { readonly workerId: string } & (
  | {
      readonly type: "claim";
      readonly count: number;
      readonly more: "none" | "likely" | "contended";
      readonly durationMs: number;
      /** How long the oldest claimed entry had been due. */
      readonly lagMs: number;
    }
  | { readonly type: "claim-error"; readonly error: unknown; readonly consecutive: number }
  | { readonly type: "emission-start"; readonly entry: EventEntry; readonly attempt: number }
  | {
      readonly type: "emission-end";
      readonly entry: EventEntry;
      readonly status: EmissionResult["status"];
      readonly errorCode: string | null;
      readonly durationMs: number;
      /** The result came after the emission had timed out or its lease was lost. */
      readonly late: boolean;
    }
  | { readonly type: "emission-timeout"; readonly entry: EventEntry }
  | {
      readonly type: "transition";
      readonly entry: EventEntry;
      readonly kind: TransitionKind;
      readonly outcome: TransitionOutcome;
      /** Of the lease, by this process's clocks, when the transition was sent; negative: late. */
      readonly marginMs: number | null;
    }
  | { readonly type: "transition-error"; readonly error: unknown; readonly waiting: number }
  | { readonly type: "renewal"; readonly count: number; readonly lost: number }
  | { readonly type: "renewal-error"; readonly error: unknown }
  | {
      readonly type: "lease-lost";
      readonly entry: EventEntry;
      readonly reason: "expired" | "taken";
    }
  | {
      readonly type: "circuit";
      readonly route: string;
      readonly state: "open" | "closed";
      /** Until the first probe. */
      readonly probeInMs: number;
    }
  | {
      readonly type: "suspect";
      readonly entry: EventEntry;
      /** `wait`: nothing was delivered since its last crash, so the process may be what is sick. */
      readonly verdict: "dead-letter" | "wait";
    }
  | { readonly type: "wake-up" }
  | { readonly type: "wake-up-connection"; readonly connected: boolean; readonly error: unknown }
  | { readonly type: "expected-duplicates"; readonly count: number }
  | { readonly type: "start" | "stop" | "pause" | "resume" }
);

/** What is published on `outbox:<event type>` of node:diagnostics_channel is the event itself. */
const channelPrefix = "outbox:";

/** Sends events to the observer and to diagnostics channels. A throwing observer changes nothing. */
export class EventSink {
  readonly #workerId: string;
  readonly #observer: ((event: OutboxEvent) => void) | undefined;
  readonly #onObserverError: (error: unknown) => void;
  readonly #channels = new Map<OutboxEvent["type"], ReturnType<typeof channel>>();

  constructor(
    workerId: string,
    observer: ((event: OutboxEvent) => void) | undefined,
    onObserverError: (error: unknown) => void = () => {},
  ) {
    this.#workerId = workerId;
    this.#observer = observer;
    this.#onObserverError = onObserverError;
  }

  emit(event: WithoutWorker<OutboxEvent>): void {
    const target = this.#channel(event.type);
    if (this.#observer === undefined && !target.hasSubscribers) return;
    const complete = { ...event, workerId: this.#workerId } as OutboxEvent;
    target.publish(complete);
    callGuarded(() => this.#observer?.(complete), this.#onObserverError);
  }

  /** Whether anyone listens: lets a hot path skip building the event. */
  isHeard(type: OutboxEvent["type"]): boolean {
    return this.#observer !== undefined || this.#channel(type).hasSubscribers;
  }

  #channel(type: OutboxEvent["type"]): ReturnType<typeof channel> {
    let found = this.#channels.get(type);
    if (found === undefined) {
      found = channel(channelPrefix + type);
      this.#channels.set(type, found);
    }
    return found;
  }
}

type WithoutWorker<Event> = Event extends unknown ? Omit<Event, "workerId"> : never;
