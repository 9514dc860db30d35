import type { WakeUpFacet, WakeUpSubscription } from "../contract/facets.js";
import { callGuarded } from "../drain/call-guarded.js";
import type { EventSink } from "../drain/outbox-event.js";
import type { OutboxLogger } from "../drain/outbox-logger.js";
import { backoffMs } from "../timing/backoff-ms.js";
import type { Timing } from "../timing/timing.js";

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
  #isReportedDown = false;

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

  /** A subscription that is only just being made is closed as soon as it is. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    const subscription = await this.#subscribe(signal);
    if (!signal.aborted) {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    this.#connected = false;
    try {
      await subscription?.close();
    } catch {
      // A connection that cannot be closed is gone already.
    }
  }

  async #subscribe(signal: AbortSignal): Promise<WakeUpSubscription | null> {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        const subscription = await this.#facet.subscribe({
          onWakeUp: () => {
            if (signal.aborted) return;
            this.#events.emit({ type: "wake-up" });
            this.#onWakeUp();
          },
          onConnectionChange: (connected, error) => this.#note(connected, error),
        });
        if (subscription.connected) this.#note(true, undefined);
        return subscription;
      } catch (error) {
        this.#note(false, error);
        await this.#timing.sleep(backoffMs(failures, 1_000, 30_000), signal);
      }
    }
    return null;
  }

  #note(connected: boolean, error: unknown): void {
    if (this.#ended.signal.aborted) return;
    this.#connected = connected;
    this.#events.emit({ type: "wake-up-connection", connected, error });
    if (connected && this.#isReportedDown) {
      this.#isReportedDown = false;
      // What was announced meanwhile is not announced again.
      this.#onWakeUp();
      callGuarded(() => this.#logger.info("outbox wake-ups arrive again"));
    } else if (!connected && !this.#isReportedDown) {
      this.#isReportedDown = true;
      callGuarded(() =>
        this.#logger.warn("outbox wake-ups do not arrive; polling delivers meanwhile", { error }),
      );
    }
  }
}
