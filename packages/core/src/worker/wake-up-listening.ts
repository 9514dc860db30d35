import type { WakeUpFacet, WakeUpSubscription } from "../contract/facets.js";
import type { EventSink } from "../drain/outbox-event.js";
import type { OutboxLogger } from "../drain/outbox-logger.js";
import { backoffMs } from "../timing/backoff-ms.js";
import type { Timing } from "../timing/timing.js";
import { guarded } from "./store-status.js";

/** Subscribes to a store's wake-ups, as often as it takes. */
export class WakeUpListening {
  readonly #facet: WakeUpFacet;
  readonly #timing: Timing;
  readonly #events: EventSink;
  readonly #logger: OutboxLogger;
  readonly #onWakeUp: () => void;
  readonly #ended = new AbortController();
  readonly #done: Promise<void>;
  #connected = false;

  constructor(given: {
    readonly facet: WakeUpFacet;
    readonly timing: Timing;
    readonly events: EventSink;
    readonly logger: OutboxLogger;
    readonly onWakeUp: () => void;
  }) {
    this.#facet = given.facet;
    this.#timing = given.timing;
    this.#events = given.events;
    this.#logger = given.logger;
    this.#onWakeUp = given.onWakeUp;
    this.#done = this.#run();
  }

  get connected(): boolean {
    return this.#connected;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    let subscription: WakeUpSubscription | undefined;
    for (let failures = 1; subscription === undefined && !signal.aborted; failures++) {
      try {
        subscription = await this.#facet.subscribe({
          onWakeUp: () => {
            this.#events.emit({ type: "wake-up" });
            this.#onWakeUp();
          },
          onConnectionChange: (connected, error) => this.#note(connected, error),
        });
        if (subscription.connected) this.#connected = true;
      } catch (error) {
        this.#note(false, error, failures === 1);
        await this.#timing.sleep(backoffMs(failures, 1_000, 30_000), signal);
      }
    }
    if (!signal.aborted) {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    this.#connected = false;
    // A connection that cannot be closed is gone already.
    await subscription?.close().catch(() => {});
  }

  #note(connected: boolean, error: unknown, isNews = connected !== this.#connected): void {
    this.#connected = connected;
    this.#events.emit({ type: "wake-up-connection", connected, error });
    // What was announced meanwhile is not announced again.
    if (connected) this.#onWakeUp();
    if (!isNews || this.#ended.signal.aborted) return;
    guarded(() => {
      if (connected) this.#logger.info("outbox wake-ups arrive again");
      else
        this.#logger.warn("outbox wake-ups do not arrive; polling delivers meanwhile", { error });
    });
  }
}
