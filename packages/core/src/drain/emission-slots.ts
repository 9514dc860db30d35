import type { Emission } from "./emission.js";
import type { EmissionGate } from "./emission-gate.js";

/** After so many times its timeout a call that still has not ended is given up on. */
const timeoutsUntilForgotten = 5;

/** After so many, it no longer keeps suspects from having the process to themselves. */
const timeoutsAtGate = 2;

/**
 * Who occupies the `emitConcurrency` slots, a call each (a batch is one call). An emission that
 * timed out frees its slot, but its call goes on and burdens the provider: together with what runs,
 * such calls make up at most twice the slots. A call that never ends must not starve everything
 * else for ever, so it is forgotten in the end.
 */
export class EmissionSlots {
  readonly running = new Set<Emission>();
  readonly #overdue = new Set<Emission>();
  /** Emissions left of each call. */
  readonly #runningCalls = new Map<object, number>();
  readonly #overdueCalls = new Map<object, number>();
  /** Calls inside the gate, and those of suspects, for which it was taken. */
  readonly #atGate = new Map<object, { readonly isSuspect: boolean }>();
  readonly #count: number;
  readonly #emitTimeoutMs: number;
  readonly #gate: EmissionGate;

  constructor(
    options: { readonly emitConcurrency: number; readonly emitTimeoutMs: number },
    gate: EmissionGate,
  ) {
    this.#count = options.emitConcurrency;
    this.#emitTimeoutMs = options.emitTimeoutMs;
    this.#gate = gate;
  }

  get hasFree(): boolean {
    return this.#runningCalls.size < this.#count && !this.areExhausted;
  }

  /** So many calls hang that nothing can start before one of them ends or is forgotten. */
  get areExhausted(): boolean {
    return this.#runningCalls.size + this.#overdueCalls.size >= this.#count * 2;
  }

  get hasOverdue(): boolean {
    return this.#overdue.size > 0;
  }

  /** Whether a suspect's call is still running. */
  get hasSuspects(): boolean {
    for (const { isSuspect } of this.#atGate.values()) if (isSuspect) return true;
    return false;
  }

  /** The emissions of one call; the gate has been entered for it, or taken for suspects. */
  begin(emissions: readonly Emission[]): void {
    for (const emission of emissions) {
      this.running.add(emission);
      count(this.#runningCalls, emission.call, 1);
      this.#atGate.set(emission.call, emission.item);
    }
  }

  end(emission: Emission): void {
    if (this.running.delete(emission)) count(this.#runningCalls, emission.call, -1);
    if (this.#overdue.delete(emission)) count(this.#overdueCalls, emission.call, -1);
    const { call } = emission;
    if (!this.#runningCalls.has(call) && !this.#overdueCalls.has(call)) this.#leaveGate(call);
  }

  /** Leaves the gate for whatever is still there, at the end. */
  clear(): void {
    for (const emission of [...this.running, ...this.#overdue]) this.end(emission);
  }

  /** Frees the slots of emissions that take too long, and returns those. */
  timeOut(nowMs: number): readonly Emission[] {
    for (const emission of this.#overdue) {
      const timeouts = (nowMs - emission.startedAtMs) / this.#emitTimeoutMs;
      if (timeouts >= timeoutsUntilForgotten) this.end(emission);
      else if (timeouts >= timeoutsAtGate) this.#leaveGate(emission.call);
    }
    const timedOut = [...this.running].filter(
      ({ startedAtMs }) => nowMs - startedAtMs >= this.#emitTimeoutMs,
    );
    for (const emission of timedOut) {
      this.running.delete(emission);
      count(this.#runningCalls, emission.call, -1);
      this.#overdue.add(emission);
      count(this.#overdueCalls, emission.call, 1);
    }
    return timedOut;
  }

  #leaveGate(call: object): void {
    const place = this.#atGate.get(call);
    if (place === undefined) return;
    this.#atGate.delete(call);
    if (!place.isSuspect) this.#gate.leave();
  }
}

function count(calls: Map<object, number>, call: object, change: 1 | -1): void {
  const left = (calls.get(call) ?? 0) + change;
  if (left === 0) calls.delete(call);
  else calls.set(call, left);
}
