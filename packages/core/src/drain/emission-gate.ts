import { systemTiming, type Timing } from "../timing/timing.js";

/**
 * Who may emit in this process. Ordinary emissions share it; a group of suspects has it alone, so
 * that if the process dies, it is clear in whose company.
 */
export class EmissionGate {
  #inside = 0;
  #isTaken = false;
  readonly #waiting: (() => void)[] = [];
  readonly #onOpen = new Set<() => void>();

  /** Enters beside others; refused while someone has the gate alone, or waits for that. */
  tryEnter(): boolean {
    if (this.#isTaken || this.#waiting.length > 0) return false;
    this.#inside += 1;
    return true;
  }

  leave(): void {
    this.#inside -= 1;
    this.#admit();
  }

  /** Calls the listener when `tryEnter` may succeed again after a refusal; returns how to end that. */
  onOpen(listener: () => void): () => void {
    this.#onOpen.add(listener);
    return () => this.#onOpen.delete(listener);
  }

  /** Runs `action` alone, once everyone inside has left; not at all if aborted before. */
  async runAlone(action: () => Promise<void>, signal: AbortSignal): Promise<void> {
    if (!(await this.#waitAlone(signal))) return;
    try {
      await action();
    } finally {
      this.#isTaken = false;
      this.#admit();
      this.#announce();
    }
  }

  /** Resolves to whether the gate was given, rather than given up. */
  #waitAlone(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const admit = () => {
        signal.removeEventListener("abort", giveUp);
        this.#isTaken = true;
        resolve(true);
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(admit), 1);
        resolve(false);
        this.#admit();
        this.#announce();
      };
      if (signal.aborted) return resolve(false);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(admit);
      this.#admit();
    });
  }

  #admit(): void {
    if (!this.#isTaken && this.#inside === 0) this.#waiting.shift()?.();
  }

  #announce(): void {
    if (this.#isTaken || this.#waiting.length > 0) return;
    for (const listener of [...this.#onOpen]) listener();
  }
}

const key = Symbol.for("@outbox/emission-gate");
const gatesOfTests = new WeakMap<Timing, EmissionGate>();

/** The gate of this process, also if the package is installed twice. A test's clocks are a process of their own. */
export function emissionGateOf(timing: Timing): EmissionGate {
  if (timing === systemTiming) {
    const holder = globalThis as { [key]?: EmissionGate };
    holder[key] ??= new EmissionGate();
    return holder[key];
  }
  const gate = gatesOfTests.get(timing) ?? new EmissionGate();
  gatesOfTests.set(timing, gate);
  return gate;
}
