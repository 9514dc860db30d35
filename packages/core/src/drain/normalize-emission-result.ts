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
  try {
    return readResult(returned);
  } catch {
    // A getter or proxy that throws; it must not take the worker down.
    return invalidResult("something that cannot be read");
  }
}

function readResult(returned: unknown): EmissionResult {
  if (returned === undefined || returned === null) return { status: "delivered" };
  const status =
    typeof returned === "object"
      ? statuses.find((one) => one === Reflect.get(returned, "status"))
      : undefined;
  // Not a guess at "delivered": a fetch response of status 500 would be one.
  if (status === undefined) return invalidResult(describeValue(returned));
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
  try {
    return readThrown(thrown);
  } catch {
    // A thrown object whose own toString or message throws.
    return exception("thrown: something that cannot be shown");
  }
}

function readThrown(thrown: unknown): EmissionResult {
  if (NonRetryableEmissionError.isInstance(thrown)) {
    return { status: "failed", error: normalizeError(thrown, false) };
  }
  if (!(thrown instanceof Error)) return exception(`thrown: ${String(thrown)}`);
  // The cause's message is often the useful one (fetch failed).
  const cause = thrown.cause instanceof Error ? ` (cause: ${thrown.cause.message})` : "";
  const message = `${thrown.name}: ${thrown.message}${cause}`;
  return OutboxError.isInstance(thrown) ? exception(message, thrown.code) : exception(message);
}

function invalidResult(shown: string): EmissionResult {
  return failure({
    code: "emission.invalid_result",
    message: `the emitter returned ${shown}, which is no EmissionResult; return nothing, or an object with a status of ${statuses.join(", ")}`,
    isRetryable: true,
  });
}

function exception(message: string, code = "emission.exception"): EmissionResult {
  return failure({ code: String(code), message, isRetryable: true });
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

function durationOrNothing(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
