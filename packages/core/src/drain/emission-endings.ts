import type { EmissionResult } from "../contract/emission-result.js";
import type { Timing } from "../timing/timing.js";
import { type Decision, decideCompletion } from "./decide-completion.js";
import { type Emission, type EmissionState, timedOutResult } from "./emission.js";
import type { Finalizer } from "./finalizer.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import type { RouteControl } from "./route-control.js";
import type { WaitingWork } from "./waiting-work.js";
import type { WorkItem } from "./work-item.js";

type RetryableFailure = Extract<EmissionResult, { status: "retryable-failure" }>;

export interface EmissionEndingsOptions {
  readonly options: ResolvedDrainOptions;
  readonly timing: Timing;
  readonly routes: RouteControl;
  readonly finalizer: Finalizer;
  readonly waiting: WaitingWork;
  isStopping(): boolean;
}

/** What becomes of an item when its emission is over, or does not take place. */
export class EmissionEndings {
  readonly #given: EmissionEndingsOptions;
  /** Items given back unemitted. */
  released = 0;

  constructor(given: EmissionEndingsOptions) {
    this.#given = given;
  }

  release(item: WorkItem, delayMs?: number): void {
    this.released += 1;
    const delay = delayMs === undefined ? {} : { delayMs };
    this.#given.finalizer.add({ item, decision: { kind: "release", ...delay } });
  }

  /** Not now, and nobody's failure. */
  putOff(item: WorkItem, forMs: number): void {
    this.#given.finalizer.add({ item, decision: { kind: "deferred", retryInMs: forMs } });
  }

  /** @param state - what the emission's was before it settled */
  withResult(emission: Emission, state: EmissionState, result: EmissionResult): void {
    const { routes, finalizer } = this.#given;
    const { item, threw, route, isProbe } = emission;
    const decision = this.#decide(item, result);
    if (state === "timed-out" || state === "settled") {
      // Counted or given back already. That it was delivered after all is still offered: the token
      // decides.
      if (decision.kind === "delivered") finalizer.add({ item, decision });
    } else if (state !== "running" && threw && result.status === "retryable-failure") {
      // An emitter that obeyed the signal has not failed.
      this.giveUp(emission);
    } else if (result.status === "retryable-failure") {
      this.#fail(emission, result, decision);
    } else {
      const isAnswer = result.status !== "pending" && result.status !== "deferred";
      if (isAnswer) routes.noteAnswer(route);
      else routes.noteNothing(route, isProbe);
      finalizer.add({ item, decision });
    }
  }

  /** @param state - what the emission's was before it timed out */
  withTimeout(emission: Emission, state: EmissionState): void {
    if (emission.isBatchMember) this.bySelf(emission, state);
    else if (state !== "running") this.giveUp(emission);
    else {
      const result = timedOutResult(this.#given.options.emitTimeoutMs);
      this.#fail(emission, result, this.#decide(emission.item, result));
    }
  }

  /** Nobody's failure, and no answer of the provider's: given back. */
  giveUp({ item, route, isProbe }: Emission): void {
    this.#given.routes.noteNothing(route, isProbe);
    this.release(item);
  }

  /** A batch failed as a whole: that counts nothing, and this member is emitted by itself. */
  bySelf(emission: Emission, state: EmissionState): void {
    const { item, route, isProbe } = emission;
    if (state === "running" && !this.#given.isStopping()) {
      this.#given.routes.noteNothing(route, isProbe);
      item.isSingle = true;
      this.#given.waiting.putBack(item);
    } else if (state !== "timed-out" && state !== "settled") {
      this.giveUp(emission);
    }
  }

  /** A failure is the entry's, unless the provider was known to be down: then it is put off. */
  #fail(
    { item, route, isProbe }: Emission,
    { error, retryAfterMs }: RetryableFailure,
    decision: Decision,
  ): void {
    const { routes, finalizer } = this.#given;
    const waitMs = routes.noteFailure(route, isProbe, retryAfterMs);
    if (waitMs === null) finalizer.add({ item, decision });
    else finalizer.add({ item, decision: { kind: "deferred", retryInMs: waitMs, error } });
  }

  #decide({ entry }: WorkItem, result: EmissionResult): Decision {
    const { options, timing } = this.#given;
    return decideCompletion(result, entry, options, timing.wall());
  }
}
