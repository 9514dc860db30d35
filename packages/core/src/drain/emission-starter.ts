import type { Timing } from "../timing/timing.js";
import { Emission } from "./emission.js";
import type { EmissionGate } from "./emission-gate.js";
import type { EmissionSlots } from "./emission-slots.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import type { RouteControl } from "./route-control.js";
import type { WaitingWork } from "./waiting-work.js";
import type { WorkItem } from "./work-item.js";

export interface EmissionStarterOptions {
  readonly options: Pick<ResolvedDrainOptions, "emitBatch" | "maxEmitBatch">;
  readonly timing: Timing;
  readonly routes: RouteControl;
  readonly gate: EmissionGate;
  readonly slots: EmissionSlots;
  readonly waiting: WaitingWork;
  readonly ended: AbortSignal;
  canStart(): boolean;
  hasTimeFor(item: WorkItem): boolean;
  /** The members of one call; one, unless the emitter takes batches. */
  start(members: readonly Emission[]): void;
  release(item: WorkItem, delayMs?: number): void;
  /** Not now, and nobody's failure. */
  putOff(item: WorkItem, forMs: number): void;
  onUnheld(): void;
}

/** Decides what starts next, and whether it may. */
export class EmissionStarter {
  readonly #given: EmissionStarterOptions;
  #isPumping = false;

  constructor(given: EmissionStarterOptions) {
    this.#given = given;
  }

  /** Starts whatever may start. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { waiting, gate } = this.#given;
    // Suspects need no entry: the gate was taken for them, and keeps everything else out.
    while (this.#canStart && waiting.hasSuspects) this.#startNext(true);
    while (this.#canStart && waiting.peek(false) !== undefined && gate.tryEnter()) {
      if (!this.#startNext(false)) gate.leave();
    }
    this.#isPumping = false;
  }

  get #canStart(): boolean {
    return this.#given.canStart() && this.#given.slots.hasFree;
  }

  /** Starts the next call; returns whether anything was left to start. */
  #startNext(suspects: boolean): boolean {
    const { options, timing, routes, waiting, start } = this.#given;
    const { emitBatch, maxEmitBatch } = options;
    const members: Emission[] = [];
    const call = {};
    let item = waiting.peek(suspects);
    while (item !== undefined) {
      const route = routes.routeOf(item.entry);
      const [first] = members;
      if (first !== undefined && (first.route !== route || item.isSingle)) break;
      waiting.take(suspects);
      const isProbe = this.#admit(item, route);
      if (isProbe !== null) {
        const startedAtMs = timing.monotonic();
        members.push(new Emission(item, { route, isProbe, call, startedAtMs }));
        const isAlone = emitBatch === null || item.isSingle || isProbe;
        if (isAlone || members.length === maxEmitBatch) break;
      }
      item = waiting.peek(suspects);
    }
    if (members.length > 0) start(members);
    return members.length > 0;
  }

  /** Whether the item may start, and if so whether as a probe; otherwise it is put off here. */
  #admit(item: WorkItem, route: string): boolean | null {
    const { routes, hasTimeFor, release, putOff } = this.#given;
    if (!hasTimeFor(item)) {
      release(item);
      return null;
    }
    const admission = routes.admit(route);
    if (admission.kind === "go") return admission.isProbe;
    if (item.isSuspect) {
      // A release: any other transition would forget what it is suspected of.
      release(item, admission.forMs);
    } else if (admission.kind === "put-off") {
      putOff(item, admission.forMs);
    } else {
      this.#hold(item, admission.forMs);
    }
    return null;
  }

  #hold(item: WorkItem, forMs: number): void {
    const { waiting, timing, ended, onUnheld } = this.#given;
    const isFirst = !waiting.hasHeld;
    waiting.hold(item);
    if (!isFirst) return;
    void timing.sleep(forMs, ended).then(() => {
      waiting.unhold();
      onUnheld();
    });
  }
}
