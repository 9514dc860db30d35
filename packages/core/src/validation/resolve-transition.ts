import type { EmissionError } from "../contract/emission-result.js";
import type { OutboxClaim } from "../contract/outbox-claim.js";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { DeliveredResult, RetryOptions } from "../contract/outbox-store.js";
import type { Due } from "../contract/transition.js";
import { savableStatuses } from "../entry/transition-writes.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import {
  describeValue,
  refuseUnknownKeys,
  requireBoolean,
  requireDurationMs,
  requireId,
  requireInstant,
  requireObject,
} from "./argument-checks.js";
import { resolveMetadata } from "./resolve-enqueue-input.js";

/** Checks a claim; one that was built by hand or deserialised lacks what fencing needs. */
export function requireClaim(argument: string, value: unknown): OutboxClaim {
  const claim = requireObject(argument, value) as unknown as OutboxClaim;
  requireEntry(`${argument}.entry`, claim.entry);
  if (typeof claim.claimToken !== "string" || claim.claimToken.length === 0) {
    throw new InvalidArgumentError(
      `${argument}.claimToken`,
      `must be the token that the store gave, not ${describeValue(claim.claimToken)}`,
    );
  }
  if (typeof claim.deadline?.monotonicMs !== "number" || !(claim.claimExpiresAt instanceof Date)) {
    throw new InvalidArgumentError(argument, "must be a claim that this store returned");
  }
  return claim;
}

export function requireEntry(argument: string, value: unknown): OutboxEntry {
  const entry = requireObject(argument, value) as unknown as OutboxEntry;
  requireId(`${argument}.entryId`, entry.entryId);
  if (typeof entry.status !== "string" || !Array.isArray(entry.failures)) {
    throw new InvalidArgumentError(argument, "must be an entry that this store returned");
  }
  return entry;
}

/** Texts are free (they are sanitised before they are stored), but they must be there. */
export function requireEmissionError(argument: string, value: unknown): EmissionError {
  const error = requireObject(argument, value) as unknown as EmissionError;
  for (const key of ["code", "message"] as const) {
    if (typeof error[key] !== "string") {
      throw new InvalidArgumentError(
        `${argument}.${key}`,
        `must be a string, not ${describeValue(error[key])}`,
      );
    }
  }
  requireBoolean(`${argument}.isRetryable`, error.isRetryable);
  return error;
}

export function requireDeliveredResult(argument: string, value: unknown): DeliveredResult {
  const result = requireObject(argument, value) as DeliveredResult;
  if (result.providerMessageId !== undefined && typeof result.providerMessageId !== "string") {
    throw new InvalidArgumentError(
      `${argument}.providerMessageId`,
      `must be a string, not ${describeValue(result.providerMessageId)}`,
    );
  }
  return result;
}

export function resolveRetry(argument: string, retry: RetryOptions | undefined): Due | null {
  if (retry === undefined) return null;
  refuseUnknownKeys(argument, requireObject(argument, retry), ["retryInMs", "nextRetryAt"]);
  if (retry.retryInMs !== undefined && retry.nextRetryAt !== undefined) {
    throw new InvalidArgumentError(
      `${argument}.nextRetryAt`,
      "must not be given together with retryInMs; choose one",
    );
  }
  if (retry.nextRetryAt !== undefined) {
    return { at: requireInstant(`${argument}.nextRetryAt`, retry.nextRetryAt) };
  }
  if (retry.retryInMs === undefined) return null;
  return { inMs: requireDurationMs(`${argument}.retryInMs`, retry.retryInMs) };
}

/** Checks what `save` and `saveClaim` may write over `read`. */
export function requireSavable(argument: string, read: OutboxEntry, next: OutboxEntry): void {
  requireEntry(argument, next);
  if (next.entryId !== read.entryId) {
    throw new InvalidArgumentError(
      `${argument}.entryId`,
      "must be that of the entry it is written over; ids cannot be changed",
    );
  }
  if (!(savableStatuses as readonly string[]).includes(next.status)) {
    throw new InvalidArgumentError(
      `${argument}.status`,
      `must be one of ${savableStatuses.join(", ")}, not ${describeValue(next.status)}; other statuses have their own methods`,
    );
  }
  resolveMetadata(`${argument}.metadata`, next.metadata);
  next.failures.forEach((failure, index) => {
    requireInstant(`${argument}.failures[${index}].at`, failure?.at);
  });
  for (const key of ["availableAt", "nextRetryAt"] as const) {
    if (next[key] !== null) requireInstant(`${argument}.${key}`, next[key]);
  }
}
