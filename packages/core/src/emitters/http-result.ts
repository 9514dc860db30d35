import type { EmissionError, EmissionResult } from "../contract/emission-result.js";
import type { HttpEmissionResponse } from "./http-emitter-options.js";
import { retryAfterMs } from "./retry-after.js";

/** Longest part of a response's body in an error text, in characters. */
const maxSnippetLength = 1_000;

/** Of the 4xx, the ones that say "later" rather than "no". */
const retryableStatuses = new Set([408, 425, 429]);

/**
 * What a response means for the entry.
 *
 * @param target - what was called, without anything secret: `POST https://billing.internal`
 * @param text - the response's body, without anything secret
 */
export function resultOfResponse(
  response: Pick<HttpEmissionResponse, "status" | "headers">,
  target: string,
  text: string,
  providerMessageIdHeader: string | null,
): EmissionResult {
  const { status, headers } = response;
  if (status >= 200 && status < 300) {
    const providerMessageId = providerMessageIdHeader && headers.get(providerMessageIdHeader);
    return providerMessageId ? { status: "delivered", providerMessageId } : { status: "delivered" };
  }
  // A fetch other than Node's hides the status of a redirect behind 0.
  if (status === 0 || (status >= 300 && status < 400)) {
    return failed(
      "http.redirect",
      `${target} answered with a redirect (${status}), which is not followed: the event could be lost on the way. Set url to the final address and redrive.`,
    );
  }
  const message = `${target} answered ${status}${snippet(text)}`;
  if (status >= 500 || retryableStatuses.has(status)) {
    const delayMs = retryAfterMs(headers);
    return {
      status: "retryable-failure",
      error: { code: `http.${status}`, message, isRetryable: true },
      ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
    };
  }
  return failed(`http.${status}`, message);
}

/** What an emission without a response means for the entry; every one may have reached the receiver. */
export function resultOfError(error: unknown, target: string): EmissionResult {
  const code = causeCode(error);
  return code !== undefined && timeoutCodes.has(code)
    ? retryable("http.timeout", `${target} did not answer in time (${code})`)
    : retryable(
        "http.network_error",
        `${target} could not be reached, or broke the connection off (${code ?? causeName(error)})`,
      );
}

export function resultOfTimeout(target: string, timeoutMs: number): EmissionResult {
  return retryable("http.timeout", `${target} did not answer within ${timeoutMs} ms`);
}

const timeoutCodes = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

function failed(code: string, message: string): EmissionResult {
  return { status: "failed", error: { code, message, isRetryable: false } };
}

function retryable(code: string, message: string): EmissionResult {
  const error: EmissionError = { code, message, isRetryable: true };
  return { status: "retryable-failure", error };
}

/** `fetch failed` says nothing; what happened is in one of the causes. */
function causeCode(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    cause = cause.cause;
  }
  return undefined;
}

/** The name only: messages of clients quote URLs and headers. */
function causeName(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.name : typeof cause;
}

function snippet(text: string): string {
  const clean = text
    .slice(0, 4 * maxSnippetLength)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  if (clean === "") return "";
  return clean.length <= maxSnippetLength
    ? `: ${clean}`
    : `: ${clean.slice(0, maxSnippetLength).replace(/\p{Surrogate}$/u, "")}…`;
}
