import type { Emission } from "./emission.js";
import type { EmissionGate } from "./emission-gate.js";

/**
 * Who occupies the `emitConcurrency` slots, a call each (a batch is one call). An emission that
 * timed out frees its slot, but its call may still be running and counts towards a second set of
 * slots: as long again as its timeout, then it is forgotten, because a call that never ends must
 * not starve everything else for ever.
 */
export class EmissionSlots {
  readonly running = new Set<Emission>();
  readonly #overdue = new Set<Emission>();
  /** Emissions left of each call. */
  readonly #runningCalls = new Map<object, number>();
  readonly #overdueCalls = new Map<object, number>();
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
    for (const { item } of this.running) if (item.isSuspect) return true;
    for (const { item } of this.#overdue) if (item.isSuspect) return true;
    return false;
  }

  /** The emissions of one call; the gate has been entered for it, unless they are suspects. */
  begin(emissions: readonly Emission[]): void {
    for (const emission of emissions) {
      this.running.add(emission);
      count(this.#runningCalls, emission.call, 1);
    }
  }

  end(emission: Emission): void {
    if (this.running.delete(emission)) this.#leave(this.#runningCalls, emission);
    if (this.#overdue.delete(emission)) this.#leave(this.#overdueCalls, emission);
  }

  /** Leaves the gate for whatever is still there, at the end. */
  clear(): void {
    for (const emission of [...this.running, ...this.#overdue]) this.end(emission);
  }

  /** Frees the slots of emissions that take too long, and returns those. */
  timeOut(nowMs: number): readonly Emission[] {
    const timedOut = [...this.running].filter(
      ({ startedAtMs }) => nowMs - startedAtMs >= this.#emitTimeoutMs,
    );
    for (const emission of timedOut) {
      // To the overdue ones first: the call must not seem to have ended in between.
      this.#overdue.add(emission);
      count(this.#overdueCalls, emission.call, 1);
      this.running.delete(emission);
      this.#leave(this.#runningCalls, emission);
    }
    for (const emission of this.#overdue) {
      if (nowMs - emission.startedAtMs >= this.#emitTimeoutMs * 2) this.end(emission);
    }
    return timedOut;
  }

  #leave(calls: Map<object, number>, { call, item }: Emission): void {
    count(calls, call, -1);
    const hasEnded = !this.#runningCalls.has(call) && !this.#overdueCalls.has(call);
    if (hasEnded && !item.isSuspect) this.#gate.leave();
  }
}

function count(calls: Map<object, number>, call: object, change: 1 | -1): void {
  const left = (calls.get(call) ?? 0) + change;
  if (left === 0) calls.delete(call);
  else calls.set(call, left);
}
