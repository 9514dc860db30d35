/** When a circuit opens, and how it probes. Times in ms. */
export interface CircuitOptions {
  /** Opens after this many transient failures in a row. */
  readonly openAfter: number;
  /** Delay before the first probe; it doubles with each probe that fails. */
  readonly firstProbeMs: number;
  readonly longestProbeMs: number;
}

/** What a circuit says to an emission that wants to start. */
export type Admission =
  | { readonly kind: "go" }
  /** The provider is asked with this one emission whether it is back. */
  | { readonly kind: "probe" }
  | { readonly kind: "closed-off"; readonly forMs: number };

/**
 * Whether a provider is worth calling. Closed: emissions go. Open: none goes, until it is time for a
 * probe; its success closes the circuit, its failure doubles the wait.
 */
export class Circuit {
  readonly #options: CircuitOptions;
  readonly #random: () => number;
  #failuresInARow = 0;
  #probeDelayMs = 0;
  /** By the monotonic clock; `null` while closed. */
  #probeAtMs: number | null = null;
  #isProbing = false;

  constructor(options: CircuitOptions, random: () => number = Math.random) {
    this.#options = options;
    this.#random = random;
  }

  get isOpen(): boolean {
    return this.#probeAtMs !== null;
  }

  /** How long until a probe may go; 0 when closed or due. */
  waitMs(nowMs: number): number {
    if (this.#probeAtMs === null) return 0;
    // While a probe is under way, its end decides; look again after a moment.
    // Whole ms: whoever sleeps for a rounding error would wake too early, again and again.
    const waitMs = Math.max(0, Math.ceil(this.#probeAtMs - nowMs));
    return this.#isProbing ? Math.max(waitMs, this.#options.firstProbeMs) : waitMs;
  }

  admit(nowMs: number): Admission {
    if (this.#probeAtMs === null) return { kind: "go" };
    const forMs = this.waitMs(nowMs);
    if (forMs > 0) return { kind: "closed-off", forMs };
    this.#isProbing = true;
    return { kind: "probe" };
  }

  /** The provider answered. Returns whether that closed the circuit. */
  succeed(): boolean {
    const wasOpen = this.isOpen;
    this.#failuresInARow = 0;
    this.#probeDelayMs = 0;
    this.#probeAtMs = null;
    this.#isProbing = false;
    return wasOpen;
  }

  /** The probe ended without saying anything about the provider (released, deferred by it). */
  endProbe(): void {
    this.#isProbing = false;
  }

  /**
   * A transient failure. Returns whether that opened the circuit.
   * @param retryAfterMs - the provider's own wish, which a probe respects
   */
  fail(nowMs: number, wasProbe: boolean, retryAfterMs = 0): boolean {
    this.#failuresInARow += 1;
    if (wasProbe) this.#isProbing = false;
    const wasOpen = this.isOpen;
    // Emissions that had started before it opened say nothing new.
    if (wasOpen && !wasProbe) return false;
    if (!wasOpen && this.#failuresInARow < this.#options.openAfter) return false;
    const { firstProbeMs, longestProbeMs } = this.#options;
    this.#probeDelayMs = Math.min(longestProbeMs, this.#probeDelayMs * 2 || firstProbeMs);
    // Random, so that the workers of a fleet do not probe together.
    const spreadMs = this.#probeDelayMs * (0.8 + 0.4 * this.#random());
    this.#probeAtMs = nowMs + Math.max(spreadMs, retryAfterMs);
    return !wasOpen;
  }
}
