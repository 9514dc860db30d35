import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import type { EmissionResult } from "../contract/emission-result.js";
import type { EmissionContext } from "../contract/emitter.js";
import type { HttpMessage } from "./cloud-event-message.js";

export type { HttpMessage };

/**
 * - `cloudevents-structured`: the whole event as one JSON document
 * - `cloudevents-binary`: the payload as the body, everything else in `ce-` headers
 * - `json`: the payload alone
 */
export type HttpFormat = "cloudevents-structured" | "cloudevents-binary" | "json";

/** What is about to be sent: enough to sign it. */
export interface HttpEmissionRequest extends EmissionContext {
  readonly method: string;
  readonly url: string;
  readonly body: string | Uint8Array;
}

export type HttpHeaders = Readonly<Record<string, string>>;

/** A response whose body has been read, up to 64 KiB of it. */
export interface HttpEmissionResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: string;
}

/** The part of `fetch` that is needed: the global one fits, and undici's with a dispatcher of yours. */
export type HttpFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string | Uint8Array;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<HttpFetchResponse>;

/** The part of a fetch response that is needed. */
export interface HttpFetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(reason?: unknown): Promise<void>;
    };
  } | null;
}

export interface HttpEmitterOptions {
  /** Where to send, `http:` or `https:`; without user name and password, which belong in `headers`. */
  readonly url: string | URL | ((envelope: EmissionEnvelope) => string | URL);
  /** @defaultValue `"POST"` */
  readonly method?: "POST" | "PUT" | "PATCH" | undefined;
  /**
   * Further headers, such as authorisation. A function is called for each emission and may be
   * async; it is given the body, so that it can sign. The emitter's own (`content-type`, `ce-…`,
   * the idempotency key) cannot be replaced; `traceparent` can.
   */
  readonly headers?:
    | HttpHeaders
    | ((
        envelope: EmissionEnvelope,
        request: HttpEmissionRequest,
      ) => HttpHeaders | Promise<HttpHeaders>)
    | undefined;
  /** A function makes a message of a shape of its own. @defaultValue `"cloudevents-structured"` */
  readonly format?: HttpFormat | ((envelope: EmissionEnvelope) => HttpMessage) | undefined;
  /**
   * How long one emission may take, the response included, in ms; keep it below the worker's
   * `emitTimeoutMs`. @defaultValue 15 000
   */
  readonly timeoutMs?: number | undefined;
  /** The header that carries the idempotency key; `null` sends none. @defaultValue `"Idempotency-Key"` */
  readonly idempotencyHeader?: string | null | undefined;
  /** The response header with the receiver's own id of the message, kept as `providerMessageId`. */
  readonly providerMessageIdHeader?: string | undefined;
  /**
   * Judges a response differently: return a result, or nothing to keep the given one.
   *
   * @example Have an expired token tried again instead of parked
   * (response) => response.status === 401
   *   ? { status: "deferred", retryAfterMs: 60_000 } : undefined
   */
  readonly mapResponse?:
    | ((
        response: HttpEmissionResponse,
        result: EmissionResult,
      ) => EmissionResult | undefined | Promise<EmissionResult | undefined>)
    | undefined;
  /** @defaultValue the global `fetch` at the time of each emission */
  readonly fetch?: HttpFetch | undefined;
}
