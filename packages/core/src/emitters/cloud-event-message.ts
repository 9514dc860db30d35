import type { EmissionEnvelope } from "../contract/emission-envelope.js";
import { NonRetryableEmissionError } from "../errors/non-retryable-emission-error.js";
import { headerValue } from "./header-value.js";

/** A request's body, and the headers that describe it. */
export interface HttpMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/**
 * The whole event as one JSON document.
 *
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
 */
export function structuredCloudEvent(envelope: EmissionEnvelope): HttpMessage {
  const { payload } = envelope;
  const data =
    payload instanceof Uint8Array
      ? {
          data_base64: Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString(
            "base64",
          ),
        }
      : isJson(envelope)
        ? { data: payload ?? null }
        : hasPayload(envelope)
          ? { data: textPayload(envelope) }
          : {};
  return {
    headers: { "content-type": "application/cloudevents+json; charset=utf-8" },
    body: JSON.stringify({
      ...attributesOf(envelope),
      datacontenttype: envelope.dataContentType,
      ...data,
    }),
  };
}

/**
 * The payload as the body, everything else in headers.
 *
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
 */
export function binaryCloudEvent(envelope: EmissionEnvelope): HttpMessage {
  const { headers, body } = plainMessage(envelope);
  const attributes = Object.entries(attributesOf(envelope)).map(([name, value]) => [
    `ce-${name}`,
    headerValue(value),
  ]);
  return { headers: { ...Object.fromEntries(attributes), ...headers }, body };
}

/** The payload alone, for receivers that know nothing of CloudEvents. */
export function plainMessage(envelope: EmissionEnvelope): HttpMessage {
  const { payload } = envelope;
  const body =
    payload instanceof Uint8Array
      ? payload
      : isJson(envelope)
        ? JSON.stringify(payload ?? null)
        : hasPayload(envelope)
          ? textPayload(envelope)
          : "";
  return { headers: { "content-type": contentType(envelope) }, body };
}

function contentType({ dataContentType }: EmissionEnvelope): string {
  if (/^[\x20-\x7e]+$/.test(dataContentType)) return dataContentType;
  throw new NonRetryableEmissionError(
    `dataContentType ${JSON.stringify(dataContentType)} cannot be a Content-Type header. Enqueue with a media type, such as "application/json".`,
    { code: "http.invalid_content_type" },
  );
}

/** The context attributes but `datacontenttype`; `traceparent` is the distributed tracing extension. */
function attributesOf(envelope: EmissionEnvelope): Record<string, string> {
  return {
    specversion: "1.0",
    id: envelope.envelopeId,
    source: envelope.source,
    type: envelope.type,
    ...(envelope.subject ? { subject: envelope.subject } : {}),
    time: envelope.time.toISOString(),
    ...(envelope.dataSchema ? { dataschema: envelope.dataSchema } : {}),
    ...(envelope.traceparent ? { traceparent: envelope.traceparent } : {}),
  };
}

/** `application/json`, `application/problem+json; charset=utf-8`, … */
function isJson({ dataContentType }: EmissionEnvelope): boolean {
  return /^[^/;]+\/([^;]*\+)?json\s*(;|$)/i.test(dataContentType);
}

function hasPayload({ payload }: EmissionEnvelope): boolean {
  return payload !== null && payload !== undefined;
}

function textPayload({ payload, dataContentType }: EmissionEnvelope): string {
  if (typeof payload === "string") return payload;
  throw new NonRetryableEmissionError(
    `The payload cannot be sent as ${JSON.stringify(dataContentType)}: it is neither text nor bytes. Enqueue it as a string or a Uint8Array, or with a JSON media type.`,
    { code: "http.unencodable_payload" },
  );
}
