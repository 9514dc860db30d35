import type { EmissionError, EmissionResult } from "../contract/emission-result.js";
import type { ClaimCompletion } from "../contract/outbox-claim-store.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import { maxDelayMs } from "../validation/argument-checks.js";
import { longestRetryAfterMs } from "./drain-options.js";
import type { ResolvedDrainOptions } from "./resolve-drain-options.js";
import { retryDelayMs } from "./retry-delay.js";

type WithoutClaim<Completion> = Completion extends unknown ? Omit<Completion, "claim"> : never;

/** A completion before it is known whose. */
export type Decision = WithoutClaim<ClaimCompletion>;

type Policy = Pick<
  ResolvedDrainOptions,
  | "maxRetryAttempts"
  | "deadLetterOnMaxRetryAttempts"
  | "deadLetterReasonCode"
  | "retryForMs"
  | "retryDelayMs"
  | "maxRetryDelayMs"
  | "retryDelay"
  | "deferredDelayMs"
  | "pollIntervalMs"
>;

/** The retry policy: what becomes of an entry after an emission's result. */
export function decideCompletion(
  result: EmissionResult,
  entry: OutboxEntry,
  policy: Policy,
  wallMs: number,
): Decision {
  switch (result.status) {
    case "delivered": {
      const { providerMessageId } = result;
      return {
        kind: "delivered",
        ...(providerMessageId === undefined ? {} : { result: { providerMessageId } }),
      };
    }
    case "deferred":
      return {
        kind: "deferred",
        retryInMs: believed(result.retryAfterMs) ?? policy.deferredDelayMs,
        ...(result.error === undefined ? {} : { error: result.error }),
      };
    case "failed":
      return { kind: "failed", error: { ...result.error, isRetryable: false } };
    case "dead-lettered":
      return {
        kind: "dead-lettered",
        error: result.error,
        ...(result.reason === undefined ? {} : { reason: result.reason }),
      };
    case "pending":
      // With a delay: an emitter that keeps saying "not now" must not spin.
      return { kind: "release", delayMs: policy.pollIntervalMs };
    case "retryable-failure":
      return decideRetry(result.error, result.retryAfterMs, entry, policy, wallMs);
  }
}

function decideRetry(
  error: EmissionError,
  retryAfterMs: number | undefined,
  entry: OutboxEntry,
  policy: Policy,
  wallMs: number,
): Decision {
  const failures = entry.retryCount + 1;
  if (isExhausted(failures, entry, policy, wallMs)) {
    return policy.deadLetterOnMaxRetryAttempts
      ? { kind: "dead-lettered", error, reason: policy.deadLetterReasonCode }
      : { kind: "failed", error: { ...error, isRetryable: false } };
  }
  const delayMs =
    believed(retryAfterMs) ??
    customDelay(policy, failures, error, entry) ??
    retryDelayMs(failures, policy);
  return {
    kind: "failed",
    error: { ...error, isRetryable: true },
    retry: { retryInMs: Math.min(delayMs, maxDelayMs) },
  };
}

function believed(retryAfterMs: number | undefined): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, longestRetryAfterMs);
}

function isExhausted(
  failures: number,
  entry: OutboxEntry,
  policy: Policy,
  wallMs: number,
): boolean {
  if (policy.retryForMs === null) return failures >= policy.maxRetryAttempts;
  const { createdAt, availableAt, lastRedrive, claimedAt } = entry;
  const startedAt = Math.max(Number(createdAt), Number(availableAt), Number(lastRedrive?.at ?? 0));
  // The claim's instant is the store's clock; this process's may be hours off.
  const nowMs = claimedAt === null ? wallMs : Number(claimedAt);
  return nowMs - startedAt >= policy.retryForMs;
}

function customDelay(
  { retryDelay }: Policy,
  failures: number,
  error: EmissionError,
  entry: OutboxEntry,
): number | null {
  if (retryDelay === null) return null;
  try {
    const delayMs = retryDelay({ failures, error, entry });
    return Number.isFinite(delayMs) && delayMs >= 0 ? delayMs : null;
  } catch {
    // A broken policy function must not keep the entry from being finalized.
    return null;
  }
}
