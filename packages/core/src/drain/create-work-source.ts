import type { Timing } from "../timing/timing.js";
import { ClaimSource } from "./claim-source.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import { SelectionSource } from "./selection-source.js";
import type { WorkSource } from "./work-source.js";

export function createWorkSource(options: ResolvedDrainOptions, timing: Timing): WorkSource {
  return options.store.kind === "claims"
    ? new ClaimSource(options.store.store, options, timing)
    : new SelectionSource(options.store.store, timing);
}
