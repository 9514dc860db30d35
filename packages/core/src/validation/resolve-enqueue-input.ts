import type { EnqueueInput } from "../contract/enqueue-input.js";
import type { StoreCapabilities } from "../contract/store-capabilities.js";
import type { NewEntry } from "../contract/store-driver.js";
import type { Due } from "../contract/transition.js";
import { defaultDestination, deriveEntryId } from "../entry/entry-id.js";
import { encodePayload } from "../entry/payload.js";
import { uuidV7 } from "../entry/uuid-v7.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { UnsupportedError } from "../errors/unsupported-error.js";
import {
  describeValue,
  maxDelayMs,
  refuseUnknownKeys,
  requireDurationMs,
  requireFilledText,
  requireId,
  requireInstant,
  requireObject,
  requireString,
} from "./argument-checks.js";

/** Longest `source`, `subject`, `dataSchema` and `dataContentType`, in UTF-16 code units. */
const maxAttributeLength = 1_000;
const maxMetadataKeys = 64;

const knownKeys = [
  "type",
  "payload",
  "envelopeId",
  "entryId",
  "destination",
  "source",
  "subject",
  "time",
  "dataContentType",
  "dataSchema",
  "traceparent",
  "metadata",
  "orderingKey",
  "availableInMs",
  "availableAt",
];

/** Checks what is to be enqueued, fills in the defaults and serialises the payload, once. */
export function resolveEnqueueInput(
  input: EnqueueInput,
  argument: string,
  source: string,
  capabilities: StoreCapabilities,
): NewEntry {
  refuseUnknownKeys(argument, requireObject(argument, input), knownKeys);
  const type = requireId(`${argument}.type`, input.type);
  if (type.includes("*")) {
    throw new InvalidArgumentError(
      `${argument}.type`,
      "must not contain a star; stars are for patterns",
    );
  }
  const envelopeId =
    input.envelopeId === undefined
      ? uuidV7()
      : requireId(`${argument}.envelopeId`, input.envelopeId);
  const destination =
    input.destination === undefined
      ? defaultDestination
      : requireId(`${argument}.destination`, input.destination);
  const attribute = (name: "source" | "subject" | "dataContentType" | "dataSchema") =>
    input[name] === undefined
      ? null
      : requireFilledText(`${argument}.${name}`, input[name], maxAttributeLength);
  const payload = encodePayload(input.payload, `${argument}.payload`);
  return {
    entryId:
      input.entryId === undefined
        ? deriveEntryId(envelopeId, destination)
        : requireId(`${argument}.entryId`, input.entryId),
    destination,
    envelope: {
      envelopeId,
      type,
      source: attribute("source") ?? source,
      subject: attribute("subject"),
      time: input.time === undefined ? new Date() : requireInstant(`${argument}.time`, input.time),
      dataContentType:
        attribute("dataContentType") ??
        (payload.format === "json" ? "application/json" : "application/octet-stream"),
      dataSchema: attribute("dataSchema"),
      traceparent: resolveTraceparent(`${argument}.traceparent`, input.traceparent),
    },
    payload,
    metadata:
      input.metadata === undefined ? {} : resolveMetadata(`${argument}.metadata`, input.metadata),
    orderingKey: resolveOrderingKey(`${argument}.orderingKey`, input.orderingKey, capabilities),
    available: resolveAvailable(input, argument, capabilities),
  };
}

export function resolveMetadata(
  argument: string,
  value: unknown,
): Readonly<Record<string, string>> {
  const entries = Object.entries(requireObject(argument, value));
  if (entries.length > maxMetadataKeys) {
    throw new InvalidArgumentError(
      argument,
      `must have at most ${maxMetadataKeys} keys, not ${entries.length}; larger notes belong in the payload`,
    );
  }
  return Object.fromEntries(
    entries.map(([key, member]) => {
      requireId(`a key of ${argument}`, key);
      return [key, requireString(`${argument}.${key}`, member)];
    }),
  );
}

function resolveTraceparent(argument: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  // Later versions of the header may append fields.
  if (
    typeof value === "string" &&
    /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-|$)/.test(value)
  ) {
    return requireId(argument, value);
  }
  throw new InvalidArgumentError(
    argument,
    `must be a W3C traceparent ("00-<32 hex>-<16 hex>-<2 hex>"), not ${describeValue(value)}`,
  );
}

function resolveOrderingKey(
  argument: string,
  value: string | undefined,
  capabilities: StoreCapabilities,
): string | null {
  if (value === undefined) return null;
  if (capabilities.perKeyOrder === "none") {
    throw new UnsupportedError(
      `${argument} is given, but this store does not keep order per key (perKeyOrder: none); leave it out`,
    );
  }
  return requireId(argument, value);
}

function resolveAvailable(
  input: EnqueueInput,
  argument: string,
  capabilities: StoreCapabilities,
): Due | null {
  if (input.availableInMs !== undefined && input.availableAt !== undefined) {
    throw new InvalidArgumentError(
      `${argument}.availableAt`,
      "must not be given together with availableInMs; choose one",
    );
  }
  if (input.availableAt !== undefined) {
    return { at: requireInstant(`${argument}.availableAt`, input.availableAt) };
  }
  if (input.availableInMs === undefined) return null;
  return {
    inMs: requireDurationMs(`${argument}.availableInMs`, input.availableInMs, {
      max: capabilities.maxDelayMs ?? maxDelayMs,
    }),
  };
}
