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
  requireOneOf,
  requireString,
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
  const { monotonicMs, wallMs } = claim.deadline ?? {};
  if (
    !Number.isFinite(monotonicMs) ||
    !Number.isFinite(wallMs) ||
    !(claim.claimExpiresAt instanceof Date)
  ) {
    throw new InvalidArgumentError(argument, "must be a claim that this store returned");
  }
  return claim;
}

export function requireEntry(argument: string, value: unknown): OutboxEntry {
  const entry = requireObject(argument, value) as unknown as OutboxEntry;
  requireId(`${argument}.entryId`, entry.entryId);
  if (
    typeof entry.status !== "string" ||
    !Number.isSafeInteger(entry.retryCount) ||
    !Array.isArray(entry.failures) ||
    !(entry.createdAt instanceof Date) ||
    !(entry.updatedAt instanceof Date)
  ) {
    throw new InvalidArgumentError(argument, "must be an entry that this store returned");
  }
  return entry;
}

/** Texts are free (they are sanitised before they are stored), but they must be there. */
export function requireEmissionError(argument: string, value: unknown): EmissionError {
  const error = requireObject(argument, value) as unknown as EmissionError;
  requireString(`${argument}.code`, error.code);
  requireString(`${argument}.message`, error.message);
  requireBoolean(`${argument}.isRetryable`, error.isRetryable);
  return error;
}

export function requireDeliveredResult(argument: string, value: unknown): DeliveredResult {
  const result = requireObject(argument, value);
  // An emitter's whole result may be handed on, but not another one than delivered.
  refuseUnknownKeys(argument, result, ["status", "providerMessageId"]);
  if (result["status"] !== undefined) {
    requireOneOf(`${argument}.status`, result["status"], ["delivered"]);
  }
  if (result["providerMessageId"] !== undefined) {
    requireString(`${argument}.providerMessageId`, result["providerMessageId"]);
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
  if (read.status === "failed") {
    throw new InvalidArgumentError(
      argument,
      "must not be written over a parked entry (failed); redrive it instead",
    );
  }
  if (!(savableStatuses as readonly string[]).includes(next.status)) {
    throw new InvalidArgumentError(
      `${argument}.status`,
      `must be one of ${savableStatuses.join(", ")}, not ${describeValue(next.status)}; other statuses have their own methods`,
    );
  }
  resolveMetadata(`${argument}.metadata`, next.metadata);
  for (const [index, failure] of next.failures.entries()) {
    const name = `${argument}.failures[${index}]`;
    requireObject(name, failure);
    requireInstant(`${name}.at`, failure.at);
    requireString(`${name}.code`, failure.code);
    requireString(`${name}.message`, failure.message);
  }
  for (const key of ["availableAt", "nextRetryAt"] as const) {
    if (next[key] !== null) requireInstant(`${argument}.${key}`, next[key]);
  }
}
