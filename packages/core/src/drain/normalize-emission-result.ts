import type { EmissionError, EmissionResult } from "../contract/emission-result.js";
import { NonRetryableEmissionError } from "../errors/non-retryable-emission-error.js";
import { OutboxError } from "../errors/outbox-error.js";
import { describeValue } from "../validation/argument-checks.js";

const statuses = [
  "delivered",
  "deferred",
  "retryable-failure",
  "failed",
  "dead-lettered",
  "pending",
] as const satisfies readonly EmissionResult["status"][];

/** What an emitter returned, as a result that every store can write. */
export function normalizeReturned(returned: unknown): EmissionResult {
  if (returned === undefined || returned === null) return { status: "delivered" };
  const status =
    typeof returned === "object"
      ? statuses.find((one) => one === Reflect.get(returned, "status"))
      : undefined;
  if (status === undefined) {
    // Not a guess at "delivered": a fetch response of status 500 would be one.
    return failure({
      code: "emission.invalid_result",
      message: `the emitter returned ${describeValue(returned)}, which is no EmissionResult; return nothing, or an object with a status of ${statuses.join(", ")}`,
      isRetryable: true,
    });
  }
  const given = returned as Record<string, unknown>;
  const retryAfterMs = durationOrNothing(given["retryAfterMs"]);
  switch (status) {
    case "pending":
      return { status };
    case "delivered":
      return typeof given["providerMessageId"] === "string"
        ? { status, providerMessageId: given["providerMessageId"] }
        : { status };
    case "deferred":
      return given["error"] === undefined
        ? { status, retryAfterMs }
        : { status, retryAfterMs, error: normalizeError(given["error"], true) };
    case "retryable-failure":
      return { status, retryAfterMs, error: normalizeError(given["error"], true) };
    case "failed":
      return { status, error: normalizeError(given["error"], false) };
    case "dead-lettered": {
      const error = normalizeError(given["error"], false);
      return typeof given["reason"] === "string"
        ? { status, error, reason: given["reason"] }
        : { status, error };
    }
  }
}

/** What an emitter threw; anything can be thrown. */
export function normalizeThrown(thrown: unknown): EmissionResult {
  if (NonRetryableEmissionError.isInstance(thrown)) {
    return {
      status: "failed",
      error: { code: thrown.code, message: thrown.message, isRetryable: false },
    };
  }
  return failure({
    code: OutboxError.isInstance(thrown) ? thrown.code : "emission.exception",
    message: describeThrown(thrown),
    isRetryable: true,
  });
}

function failure(error: EmissionError): EmissionResult {
  return { status: "retryable-failure", error };
}

function normalizeError(error: unknown, isRetryable: boolean): EmissionError {
  const given =
    typeof error === "object" && error !== null ? (error as Record<string, unknown>) : {};
  return {
    code:
      typeof given["code"] === "string" && given["code"] !== "" ? given["code"] : "emission.failed",
    message:
      typeof given["message"] === "string"
        ? given["message"]
        : "(the emitter gave no error message)",
    isRetryable,
  };
}

/** `${name}: ${message}` with the cause, whose message is often the useful one (fetch failed). */
function describeThrown(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return `thrown: ${String(thrown)}`;
    const cause = thrown.cause instanceof Error ? ` (cause: ${thrown.cause.message})` : "";
    return `${thrown.name}: ${thrown.message}${cause}`;
  } catch {
    // A thrown object whose own toString or message throws.
    return "thrown: something that cannot be shown";
  }
}

function durationOrNothing(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
