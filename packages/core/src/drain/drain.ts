import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { Doorbell } from "../timing/doorbell.js";
import { systemTiming, type Timing } from "../timing/timing.js";
import { describeValue, requireDurationMs, requireInteger } from "../validation/argument-checks.js";
import { createWorkSource } from "./create-work-source.js";
import type { DrainOptions } from "./drain-options.js";
import { EmissionEngine } from "./emission-engine.js";
import { EventSink } from "./outbox-event.js";
import { resolveDrainOptions } from "./resolve-drain-options.js";

/** For cron and serverless: drains what is due now and returns. */
export interface DrainOnceOptions extends DrainOptions {
  /** Claim nothing more after this long, in ms; what is in hand is still finished. @defaultValue no limit */
  readonly maxMs?: number | undefined;
  /** Claim at most this many entries. @defaultValue no limit */
  readonly maxCount?: number | undefined;
  /** Claim nothing more once aborted; what was not started is released. */
  readonly signal?: AbortSignal | undefined;
}

export interface DrainReport {
  readonly claimed: number;
  readonly delivered: number;
  /** Given back unemitted. */
  readonly released: number;
  /** Transitions that the store refused as stale, terminal or missing. */
  readonly stale: number;
  /** Emitted, but not known to the store: will be emitted again. */
  readonly expectedDuplicates: number;
  readonly endedBy: "empty" | "max-count" | "max-ms" | "aborted";
}

/** Claims, emits and finalizes until nothing is due, or a limit is reached. */
export function drain(options: DrainOnceOptions): Promise<DrainReport> {
  return drainWithTiming(options, systemTiming);
}

/** How long what is in hand may take after the last claim, beyond `emitTimeoutMs`. */
const finishMarginMs = 5_000;

export async function drainWithTiming(
  options: DrainOnceOptions,
  timing: Timing,
): Promise<DrainReport> {
  const resolved = resolveDrainOptions(options, ["maxMs", "maxCount", "signal"]);
  const limits = resolveLimits(options);
  const source = createWorkSource(resolved, timing);
  const progress = new Doorbell();
  let storeError: unknown;
  const engine = new EmissionEngine({
    options: resolved,
    source,
    timing,
    events: new EventSink(resolved.workerId, resolved.observer, () => {}),
    onProgress: () => progress.ring(),
    onStoreError: (error) => {
      storeError = error;
      progress.ring();
    },
    onStoreReply: () => {
      storeError = undefined;
    },
  });
  const startedAt = timing.monotonic();
  const wake = () => progress.ring();
  limits.signal?.addEventListener("abort", wake);

  let claimed = 0;
  let endedBy: DrainReport["endedBy"] | null = null;
  let claimError: { readonly error: unknown } | null = null;
  while (endedBy === null && claimError === null) {
    if (limits.signal?.aborted) endedBy = "aborted";
    else if (claimed >= limits.maxCount) endedBy = "max-count";
    else if (timing.monotonic() - startedAt >= limits.maxMs) endedBy = "max-ms";
    else {
      const wanted = Math.min(engine.appetite, limits.maxCount - claimed);
      if (wanted === 0) {
        await progress.wait();
        continue;
      }
      const releasedBefore = engine.released;
      try {
        const taken = await source.take(wanted);
        claimed += taken.items.length;
        engine.add(taken.items);
        if (taken.items.length > 0) continue;
        if (taken.more === "contended") {
          await timing.sleep(5 + Math.random() * 20);
          continue;
        }
      } catch (error) {
        claimError = { error };
        continue;
      }
      while (!engine.isIdle && storeError === undefined && !limits.signal?.aborted) {
        await progress.wait();
      }
      if (storeError !== undefined) claimError = { error: storeError };
      else if (engine.released === releasedBefore && !limits.signal?.aborted) endedBy = "empty";
    }
  }
  limits.signal?.removeEventListener("abort", wake);
  // After an abort or error nothing more is started; otherwise what was claimed is finished.
  if (endedBy !== "aborted" && claimError === null) {
    const until = timing.monotonic() + resolved.leaseDurationMs + resolved.emitTimeoutMs;
    while (!engine.isIdle && storeError === undefined && timing.monotonic() < until) {
      await progress.wait();
    }
  }
  await engine.stop(resolved.emitTimeoutMs + finishMarginMs);
  if (claimError !== null) throw claimError.error;
  const { counts } = engine.finalizer;
  return {
    claimed,
    delivered: counts.delivered,
    released: engine.released,
    stale: counts.stale,
    expectedDuplicates: counts.expectedDuplicates,
    endedBy: endedBy ?? "empty",
  };
}

function resolveLimits({ maxMs, maxCount, signal }: DrainOnceOptions) {
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgumentError(
      "options.signal",
      `must be an AbortSignal, not ${describeValue(signal)}`,
    );
  }
  return {
    maxMs:
      maxMs === undefined
        ? Number.POSITIVE_INFINITY
        : requireDurationMs("options.maxMs", maxMs, { min: 1 }),
    maxCount:
      maxCount === undefined
        ? Number.POSITIVE_INFINITY
        : requireInteger("options.maxCount", maxCount, { min: 1, max: Number.MAX_SAFE_INTEGER }),
    signal,
  };
}
