import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import {
  describeValue,
  refuseUnknownKeys,
  requireDurationMs,
  requireFunction,
  requireObject,
  requireOneOf,
} from "../validation/argument-checks.js";
import {
  binaryCloudEvent,
  type HttpMessage,
  plainMessage,
  structuredCloudEvent,
} from "./cloud-event-message.js";
import type {
  HttpEmissionRequest,
  HttpEmitterOptions,
  HttpFetch,
  HttpHeaders,
} from "./http-emitter-options.js";

export interface ResolvedHttpEmitterOptions {
  readonly url: (envelope: EmissionEnvelope) => URL;
  readonly method: string;
  readonly headers: (
    envelope: EmissionEnvelope,
    request: HttpEmissionRequest,
  ) => HttpHeaders | Promise<HttpHeaders>;
  readonly message: (envelope: EmissionEnvelope) => HttpMessage;
  readonly timeoutMs: number;
  readonly idempotencyHeader: string | null;
  readonly providerMessageIdHeader: string | null;
  readonly mapResponse: NonNullable<HttpEmitterOptions["mapResponse"]>;
  readonly fetch: HttpFetch;
}

const formats = {
  "cloudevents-structured": structuredCloudEvent,
  "cloudevents-binary": binaryCloudEvent,
  json: plainMessage,
};

/** The longest that a timer can wait, in ms. */
const longestTimerMs = 2 ** 31 - 1;

/** Checks the options and fills in the defaults. */
export function resolveHttpEmitterOptions(options: HttpEmitterOptions): ResolvedHttpEmitterOptions {
  refuseUnknownKeys("options", requireObject("options", options), [
    "url",
    "method",
    "headers",
    "format",
    "timeoutMs",
    "idempotencyHeader",
    "providerMessageIdHeader",
    "mapResponse",
    "fetch",
  ]);
  const { mapResponse, fetch: givenFetch } = options;
  if (mapResponse !== undefined) requireFunction("options.mapResponse", mapResponse);
  if (givenFetch !== undefined) requireFunction("options.fetch", givenFetch);
  const idempotencyHeader =
    options.idempotencyHeader === null
      ? null
      : requireHeaderName(
          "options.idempotencyHeader",
          options.idempotencyHeader ?? "Idempotency-Key",
        );
  return {
    url: resolveUrl(options.url),
    method: requireOneOf("options.method", options.method ?? "POST", ["POST", "PUT", "PATCH"]),
    headers: resolveHeaders(options.headers, idempotencyHeader),
    message: resolveFormat(options.format ?? "cloudevents-structured"),
    timeoutMs: requireDurationMs("options.timeoutMs", options.timeoutMs ?? 15_000, {
      min: 1,
      max: longestTimerMs,
    }),
    idempotencyHeader,
    providerMessageIdHeader:
      options.providerMessageIdHeader === undefined
        ? null
        : requireHeaderName("options.providerMessageIdHeader", options.providerMessageIdHeader),
    mapResponse: mapResponse ?? (() => undefined),
    // Looked up at each emission, so that instrumentation may replace it later.
    fetch: givenFetch ?? ((url, init) => globalThis.fetch(url, init)),
  };
}

function resolveUrl(url: HttpEmitterOptions["url"]): ResolvedHttpEmitterOptions["url"] {
  if (typeof url === "function") {
    return (envelope) => requireHttpUrl("the result of options.url", url(envelope));
  }
  const resolved = requireHttpUrl("options.url", url);
  return () => resolved;
}

function requireHttpUrl(argument: string, value: unknown): URL {
  if (typeof value !== "string" && !(value instanceof URL)) {
    throw new InvalidArgumentError(
      argument,
      `must be a URL such as "https://billing.internal/events", not ${describeValue(value)}`,
    );
  }
  // The value itself may hold a secret and is never repeated.
  if (!URL.canParse(String(value))) {
    throw new InvalidArgumentError(argument, "must be an absolute URL; it cannot be parsed as one");
  }
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new InvalidArgumentError(
      argument,
      `must start with http: or https:, not ${url.protocol}`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new InvalidArgumentError(
      argument,
      "must not contain a user name or password; send them with options.headers (authorization)",
    );
  }
  return url;
}

function resolveHeaders(
  headers: HttpEmitterOptions["headers"],
  idempotencyHeader: string | null,
): ResolvedHttpEmitterOptions["headers"] {
  if (typeof headers === "function") {
    return async (envelope, request) =>
      requireHeaders("the result of options.headers", await headers(envelope, request));
  }
  const resolved = requireHeaders("options.headers", headers ?? {});
  for (const name of Object.keys(resolved)) {
    if (isOwnHeader(name, idempotencyHeader)) {
      throw new InvalidArgumentError(
        `options.headers[${JSON.stringify(name)}]`,
        "is set by the emitter; choose another format or idempotencyHeader to change it",
      );
    }
  }
  return () => resolved;
}

function isOwnHeader(name: string, idempotencyHeader: string | null): boolean {
  const lower = name.toLowerCase();
  return (
    lower === "content-type" ||
    lower.startsWith("ce-") ||
    lower === idempotencyHeader?.toLowerCase()
  );
}

function requireHeaders(argument: string, value: unknown): HttpHeaders {
  for (const [name, text] of Object.entries(requireObject(argument, value))) {
    const header = `${argument}[${JSON.stringify(name)}]`;
    requireHeaderName(header, name);
    if (typeof text !== "string") {
      throw new InvalidArgumentError(header, `must be a string, not ${describeValue(text)}`);
    }
    // The platform's own error would repeat the value, which may be a credential.
    if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) {
      throw new InvalidArgumentError(
        header,
        "contains characters that a header cannot carry; encode the value, and look for a line break at its end",
      );
    }
  }
  return value as HttpHeaders;
}

function requireHeaderName(argument: string, value: unknown): string {
  if (typeof value === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(value)) return value;
  throw new InvalidArgumentError(
    argument,
    `must have the name of a header (letters, digits, hyphens), not ${describeValue(value)}`,
  );
}

function resolveFormat(
  format: HttpEmitterOptions["format"],
): ResolvedHttpEmitterOptions["message"] {
  if (typeof format === "function") return format;
  return formats[
    requireOneOf("options.format", format, ["cloudevents-structured", "cloudevents-binary", "json"])
  ];
}
