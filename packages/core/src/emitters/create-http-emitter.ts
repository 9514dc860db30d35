import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import type { EmissionResult } from "../contract/emission-result.js";
import type { EmissionContext, Emitter } from "../contract/emitter.js";
import { DeadlineError, withDeadline } from "./emission-deadline.js";
import { headerValue } from "./header-value.js";
import type { HttpEmitterOptions, HttpHeaders } from "./http-emitter-options.js";
import { resultOfError, resultOfResponse, resultOfTimeout } from "./http-result.js";
import { readResponseText } from "./read-response-text.js";
import { redactSecrets } from "./redact-secrets.js";
import {
  type ResolvedHttpEmitterOptions,
  resolveHttpEmitterOptions,
} from "./resolve-http-emitter-options.js";

/**
 * An emitter that sends each envelope as an HTTP request, by the CloudEvents 1.0 HTTP binding, with
 * the idempotency key in a header so that the receiver can recognise a duplicate.
 *
 * | answer | result |
 * | --- | --- |
 * | 2xx, complete | `delivered` |
 * | 408, 425, 429, 5xx | `retryable-failure` `http.<status>`, after `Retry-After` where given |
 * | other 4xx | `failed` `http.<status>`: parked until an operator redrives it |
 * | 3xx | `failed` `http.redirect`: a redirected POST can lose its body |
 * | none | `retryable-failure` `http.network_error` or `http.timeout` |
 *
 * `mapResponse` replaces any of these. If the context's signal aborts, its reason is thrown: the
 * worker knows why it aborted.
 *
 * @throws InvalidArgumentError naming the option, at creation
 */
export function createHttpEmitter(options: HttpEmitterOptions): Emitter {
  const resolved = resolveHttpEmitterOptions(options);
  return { emit: (envelope, context) => emitOverHttp(resolved, envelope, context) };
}

async function emitOverHttp(
  options: ResolvedHttpEmitterOptions,
  envelope: EmissionEnvelope,
  context: EmissionContext,
): Promise<EmissionResult> {
  const url = options.url(envelope);
  // Path and query may be secret, as those of web hooks are.
  const target = `${options.method} ${url.origin}`;
  try {
    return await withDeadline(context.signal, options.timeoutMs, (signal) =>
      send(options, envelope, { ...context, signal }, url, target),
    );
  } catch (error) {
    if (error instanceof DeadlineError) return resultOfTimeout(target, options.timeoutMs);
    throw error;
  }
}

async function send(
  options: ResolvedHttpEmitterOptions,
  envelope: EmissionEnvelope,
  context: EmissionContext,
  url: URL,
  target: string,
): Promise<EmissionResult> {
  const { method } = options;
  const { headers: messageHeaders, body } = options.message(envelope);
  const request = { ...context, method, url: url.href, body };
  const givenHeaders = await options.headers(envelope, request);
  const headers = mergeHeaders(
    envelope.traceparent === null ? {} : { traceparent: headerValue(envelope.traceparent) },
    givenHeaders,
    messageHeaders,
    options.idempotencyHeader === null
      ? {}
      : { [options.idempotencyHeader]: headerValue(context.idempotencyKey) },
  );

  let status: number;
  let responseHeaders: { get(name: string): string | null };
  let text: string;
  try {
    const { signal } = context;
    const response = await options.fetch(url.href, {
      method,
      headers,
      body,
      redirect: "manual",
      signal,
    });
    ({ status, headers: responseHeaders } = response);
    text = await readResponseText(response).catch((error: unknown) => {
      // A refusal stands without its body. A success that breaks off is none: the receiver may
      // have died before it was done.
      if (status >= 200 && status < 300) throw error;
      return "";
    });
  } catch (error) {
    context.signal.throwIfAborted();
    return resultOfError(error, target);
  }
  const result = resultOfResponse(
    { status, headers: responseHeaders },
    target,
    redactSecrets(text, { url, headers: givenHeaders }),
    options.providerMessageIdHeader,
  );
  const response = { status, headers: responseHeaders, body: text };
  return (await options.mapResponse(response, result)) ?? result;
}

/** Later ones win, whatever the case of their names. */
function mergeHeaders(...groups: readonly HttpHeaders[]): Record<string, string> {
  const headers = new Headers();
  for (const group of groups) {
    for (const [name, value] of Object.entries(group)) headers.set(name, value);
  }
  return Object.fromEntries(headers);
}
