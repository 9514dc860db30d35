import type { Timing } from "../timing/timing.js";
import { createWorkSource } from "./create-work-source.js";
import { EmissionEngine } from "./emission-engine.js";
import { emissionGateOf } from "./emission-gate.js";
import type { EngineOptions } from "./engine-options.js";
import { Intake } from "./intake.js";
import type { SuspectJudge } from "./judge-suspect.js";
import type { EventSink } from "./outbox-event.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import type { RouteControl } from "./route-control.js";

export interface DrainParts {
  readonly engine: EmissionEngine;
  readonly intake: Intake;
}

/** What a drain and each run of a worker are made of. */
export function createDrainParts(
  given: {
    readonly options: ResolvedDrainOptions;
    readonly timing: Timing;
    readonly events: EventSink;
    readonly routes: RouteControl;
    readonly judge: SuspectJudge;
  } & Pick<EngineOptions, "onProgress" | "onStoreError" | "onStoreReply">,
): DrainParts {
  const source = createWorkSource(given.options, given.timing);
  const gate = emissionGateOf(given.timing);
  const onDelivered = (at: Date) => given.judge.noteDelivery(at);
  const engine = new EmissionEngine({ ...given, source, gate, onDelivered });
  return { engine, intake: new Intake({ ...given, source, gate, engine }) };
}
