import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { Timing } from "../timing/timing.js";
import { Circuit, type CircuitOptions } from "./circuit.js";
import type { EventSink } from "./outbox-event.js";
import { type RateLimit, RateLimiter } from "./rate-limit.js";

export interface RouteControlOptions {
  readonly routeOf: (entry: OutboxEntry) => string;
  /** Every route there is; `null` where that is not known. */
  readonly routes: readonly string[] | null;
  /** The routes are the type patterns of a claim, so that one can be left out of it. */
  readonly routesAreTypes: boolean;
  /** `null`: circuits never open. */
  readonly circuit: CircuitOptions | null;
  readonly rateLimits: Readonly<Record<string, RateLimit>>;
}

/** Whether an emission may start. */
export type RouteAdmission =
  | { readonly kind: "go"; readonly isProbe: boolean }
  /** The circuit is open: not worth holding. */
  | { readonly kind: "put-off"; readonly forMs: number }
  /** The rate limit is used up: in a moment. */
  | { readonly kind: "wait"; readonly forMs: number };

/** What is worth claiming. */
export type Claimable =
  | { readonly kind: "some"; readonly types: readonly string[] | null; readonly maxCount: number }
  | { readonly kind: "nothing"; readonly forMs: number };

const everything: Claimable = {
  kind: "some",
  types: null,
  maxCount: Number.POSITIVE_INFINITY,
};

/** Circuits and rate limits of the routes. */
export class RouteControl {
  readonly #options: RouteControlOptions;
  readonly #timing: Timing;
  readonly #events: EventSink;
  readonly #circuits = new Map<string, Circuit>();
  readonly #limiters = new Map<string, RateLimiter>();

  constructor(options: RouteControlOptions, timing: Timing, events: EventSink) {
    this.#options = options;
    this.#timing = timing;
    this.#events = events;
    const now = timing.monotonic();
    for (const [route, limit] of Object.entries(options.rateLimits)) {
      this.#limiters.set(route, new RateLimiter(limit, now));
    }
  }

  get openRoutes(): readonly string[] {
    return [...this.#circuits].filter(([, circuit]) => circuit.isOpen).map(([route]) => route);
  }

  routeOf(entry: OutboxEntry): string {
    return this.#options.routeOf(entry);
  }

  admit(route: string): RouteAdmission {
    const now = this.#timing.monotonic();
    const circuit = this.#circuits.get(route);
    const waitMs = circuit?.waitMs(now) ?? 0;
    if (waitMs > 0) return { kind: "put-off", forMs: waitMs };
    const forMs = this.#limiters.get(route)?.take(now) ?? 0;
    if (forMs > 0) return { kind: "wait", forMs };
    return { kind: "go", isProbe: circuit?.admit(now).kind === "probe" };
  }

  /** The provider answered, whatever it said of the entry. */
  noteAnswer(route: string): void {
    if (this.#circuits.get(route)?.succeed()) {
      this.#events.emit({ type: "circuit", route, state: "closed", probeInMs: 0 });
    }
  }

  /** A probe ended without telling anything. */
  noteNothing(route: string, wasProbe: boolean): void {
    if (wasProbe) this.#circuits.get(route)?.endProbe();
  }

  /**
   * A transient failure. Returns how long the entry should wait uncounted, because the circuit was
   * open already; `null` if the failure is the entry's.
   */
  noteFailure(route: string, wasProbe: boolean, retryAfterMs: number | undefined): number | null {
    if (this.#options.circuit === null) return null;
    let circuit = this.#circuits.get(route);
    if (circuit === undefined) {
      circuit = new Circuit(this.#options.circuit);
      this.#circuits.set(route, circuit);
    }
    const now = this.#timing.monotonic();
    const wasOpen = circuit.isOpen;
    if (circuit.fail(now, wasProbe, retryAfterMs)) {
      this.#events.emit({
        type: "circuit",
        route,
        state: "open",
        probeInMs: circuit.waitMs(now),
      });
    }
    return wasOpen ? circuit.waitMs(now) : null;
  }

  /** What is worth claiming now, given which routes can take anything. */
  claimable(): Claimable {
    const { routes, routesAreTypes } = this.#options;
    if (routes === null || (this.#circuits.size === 0 && this.#limiters.size === 0)) {
      return everything;
    }
    const now = this.#timing.monotonic();
    const waits = routes.map((route) => ({ route, waitMs: this.#waitMs(route, now) }));
    const blocked = waits.filter(({ waitMs }) => waitMs > 0);
    if (blocked.length === routes.length) {
      return { kind: "nothing", forMs: Math.min(...blocked.map(({ waitMs }) => waitMs)) };
    }
    const open = routes.filter((route) => !blocked.some((one) => one.route === route));
    const maxCount = this.#mostWanted(open);
    if (!routesAreTypes || blocked.length === 0) return { kind: "some", types: null, maxCount };
    // A pattern that another one covers would come along anyway, and is put off one by one.
    return { kind: "some", types: open, maxCount };
  }

  /** A provider that is only probed needs one entry. */
  #mostWanted(routes: readonly string[]): number {
    const onlyProbes = routes.every((route) => this.#circuits.get(route)?.isOpen === true);
    return onlyProbes ? routes.length : Number.POSITIVE_INFINITY;
  }

  #waitMs(route: string, now: number): number {
    return Math.max(
      this.#circuits.get(route)?.waitMs(now) ?? 0,
      this.#limiters.get(route)?.waitMs(now) ?? 0,
    );
  }
}
