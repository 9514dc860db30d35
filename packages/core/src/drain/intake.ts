import type { ClaimBatch } from "../contract/claim-request.js";
import type { Timing } from "../timing/timing.js";
import type { EmissionEngine } from "./emission-engine.js";
import type { EmissionGate } from "./emission-gate.js";
import { maxSoloAbandonedClaims, type SuspectJudge } from "./judge-suspect.js";
import { leaseTooShortError } from "./lease-too-short-error.js";
import type { EventSink } from "./outbox-event.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import type { RouteControl } from "./route-control.js";
import { takeWork } from "./take-work.js";
import { eventEntry, type WorkItem } from "./work-item.js";
import type { WorkRequest, WorkSource } from "./work-source.js";

/** Whether to claim: now, or after some time, or (`inMs: null`) after the next progress. */
export type IntakeWish =
  | { readonly kind: "now"; readonly request: WorkRequest }
  | { readonly kind: "later"; readonly inMs: number | null };

export interface IntakeReport {
  readonly count: number;
  readonly more: ClaimBatch["more"];
  /** How long the oldest of it had been due. */
  readonly lagMs: number;
}

export interface IntakeOptions {
  readonly options: ResolvedDrainOptions;
  readonly source: WorkSource;
  readonly engine: EmissionEngine;
  readonly routes: RouteControl;
  readonly gate: EmissionGate;
  readonly judge: SuspectJudge;
  readonly timing: Timing;
  readonly events: EventSink;
}

/** Brings work from the source to the engine: ordinary work, and suspects in turn with it. */
export class Intake {
  readonly #given: IntakeOptions;
  #lastWaitMs = Number.NEGATIVE_INFINITY;

  constructor(given: IntakeOptions) {
    this.#given = given;
  }

  /** A suspect waits, because nothing was delivered since it last took the process along. */
  get seesCrashLoop(): boolean {
    const { timing, options } = this.#given;
    return timing.monotonic() - this.#lastWaitMs < options.leaseDurationMs * 3;
  }

  get wish(): IntakeWish {
    const { engine, routes } = this.#given;
    const appetite = engine.appetite;
    if (appetite === 0) return { kind: "later", inMs: null };
    const claimable = routes.claimable();
    if (claimable.kind === "nothing") return { kind: "later", inMs: claimable.forMs };
    const maxCount = Math.min(appetite, claimable.maxCount);
    return { kind: "now", request: { maxCount, types: claimable.types, suspects: false } };
  }

  /**
   * One claim. Of suspects, it returns when they have been emitted.
   *
   * @throws the store's error, or `outbox.lease_too_short`
   */
  async take(request: WorkRequest, signal: AbortSignal): Promise<IntakeReport> {
    const { source, gate, engine, options, timing, events } = this.#given;
    if (source.wantsSuspects) {
      let report: IntakeReport = { count: 0, more: "none", lagMs: 0 };
      const takeThem = async () => {
        report = await this.#takeSuspects(request);
      };
      // A stop does not wait for ever for a store or a call; nor must the rest of the process.
      await gate.runAlone(() => Promise.race([takeThem(), engine.ended]), signal);
      return report;
    }
    const { items, more, lagMs } = await takeWork(source, request, timing, events);
    const accepted = engine.add(items);
    if (accepted === 0 && items.length > 0 && !signal.aborted) throw leaseTooShortError(options);
    return { count: items.length, more, lagMs };
  }

  async #takeSuspects(request: WorkRequest): Promise<IntakeReport> {
    const { source, engine, options, timing, events } = this.#given;
    // The store takes a group of about the square root, or a single one.
    const wanted = { ...request, maxCount: options.batchSize, suspects: true };
    const { items, more, lagMs } = await takeWork(source, wanted, timing, events);
    const suspects: WorkItem[] = [];
    for (const item of items) if (await this.#mayBeEmitted(item)) suspects.push(item);
    await engine.addSuspects(suspects);
    return { count: items.length, more, lagMs };
  }

  async #mayBeEmitted(item: WorkItem): Promise<boolean> {
    const { engine, events, options, timing } = this.#given;
    const verdict = await this.#judge(item);
    if (verdict === "emit") return true;
    events.emit({ type: "suspect", entry: eventEntry(item), verdict });
    if (verdict === "wait") {
      this.#lastWaitMs = timing.monotonic();
      engine.finish(item, { kind: "release", delayMs: options.leaseDurationMs });
      return false;
    }
    const code = "outbox.max_abandoned_claims_exceeded";
    engine.finish(item, {
      kind: "dead-lettered",
      error: {
        code,
        message: `the process died ${maxSoloAbandonedClaims} times while emitting this entry alone; mend what kills it, then redrive`,
        isRetryable: false,
      },
      reason: code,
      countsFailure: false,
    });
    return false;
  }

  async #judge({ claim }: WorkItem): Promise<"emit" | "dead-letter" | "wait"> {
    try {
      return claim === null ? "emit" : await this.#given.judge.judge(claim);
    } catch {
      // The store cannot be asked just now; the entry can wait.
      return "wait";
    }
  }
}
