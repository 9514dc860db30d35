import type { DrainOptions } from "../drain/drain-options.js";
import { type ResolvedDrainOptions, resolveDrainOptions } from "../drain/resolve-drain-options.js";
import { requireBoolean, requireDurationMs } from "../validation/argument-checks.js";

export interface WorkerOptions extends DrainOptions {
  /** Longest time between two looks at the store while it is empty, in ms. @defaultValue 1 000 */
  readonly pollIntervalMs?: number | undefined;
  /** How long a stop waits for running emissions, in ms; it takes at most 2 s more. @defaultValue 20 000 */
  readonly stopTimeoutMs?: number | undefined;
  /** Without progress for this long, health says so, in ms. @defaultValue max(30 000, 3 polls, emitTimeoutMs) */
  readonly unhealthyAfterMs?: number | undefined;
  /** Listen for wake-ups, where the store has them; polling goes on beside. @defaultValue true */
  readonly wakeUp?: boolean | undefined;
}

export interface ResolvedWorkerOptions {
  readonly drain: ResolvedDrainOptions;
  readonly stopTimeoutMs: number;
  readonly unhealthyAfterMs: number;
  readonly wakeUp: boolean;
}

export const workerDefaults = {
  stopTimeoutMs: 20_000,
  unhealthyAfterMs: 30_000,
  wakeUp: true,
} as const;

export function resolveWorkerOptions(options: WorkerOptions): ResolvedWorkerOptions {
  const drain = resolveDrainOptions(options, ["stopTimeoutMs", "unhealthyAfterMs", "wakeUp"]);
  const {
    stopTimeoutMs = workerDefaults.stopTimeoutMs,
    // Neither an idle poll nor a slow emission is a sign of trouble.
    unhealthyAfterMs = Math.max(
      workerDefaults.unhealthyAfterMs,
      3 * drain.pollIntervalMs,
      drain.emitTimeoutMs,
    ),
    wakeUp = workerDefaults.wakeUp,
  } = options;
  return {
    drain,
    stopTimeoutMs: requireDurationMs("options.stopTimeoutMs", stopTimeoutMs),
    unhealthyAfterMs: requireDurationMs("options.unhealthyAfterMs", unhealthyAfterMs, { min: 1 }),
    wakeUp: requireBoolean("options.wakeUp", wakeUp),
  };
}
