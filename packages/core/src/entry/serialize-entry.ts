import type { OutboxEntry, OutboxEntrySummary } from "../contract/outbox-entry.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { decodePayload, encodePayload } from "./payload.js";

/** An entry as JSON text, for a log, a file or another process. The inverse is `deserializeEntry`. */
export function serializeEntry(entry: OutboxEntry): string {
  const { payload, ...attributes } = entry.envelope;
  const encoded = encodePayload(payload, "entry.envelope.payload");
  return JSON.stringify({
    format: 1,
    entry: { ...entry, envelope: attributes },
    payload:
      encoded.format === "json"
        ? { json: encoded.text }
        : { base64: Buffer.from(encoded.bytes).toString("base64") },
  });
}

/** @throws InvalidArgumentError if the text is not from `serializeEntry` */
export function deserializeEntry(text: string): OutboxEntry {
  try {
    return restore(JSON.parse(text) as Serialized);
  } catch (error) {
    throw new InvalidArgumentError("text", "must be what serializeEntry returned (format 1)", {
      cause: error,
    });
  }
}

type InText<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly InText<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: InText<Value[Key]> }
      : Value;

interface Serialized {
  readonly format: 1;
  readonly entry: InText<OutboxEntrySummary>;
  readonly payload: { readonly json: string } | { readonly base64: string };
}

/** Throws whatever comes of a text that is something else. */
function restore({ format, entry, payload }: Serialized): OutboxEntry {
  if (format !== 1) throw new TypeError("another format");
  return {
    ...entry,
    envelope: {
      ...entry.envelope,
      time: instant(entry.envelope.time),
      payload:
        "json" in payload
          ? decodePayload({ format: "json", text: payload.json })
          : new Uint8Array(Buffer.from(payload.base64, "base64")),
    },
    createdAt: instant(entry.createdAt),
    updatedAt: instant(entry.updatedAt),
    availableAt: instantOrNull(entry.availableAt),
    nextRetryAt: instantOrNull(entry.nextRetryAt),
    deliveredAt: instantOrNull(entry.deliveredAt),
    claimedAt: instantOrNull(entry.claimedAt),
    claimExpiresAt: instantOrNull(entry.claimExpiresAt),
    failures: entry.failures.map((failure) => ({ ...failure, at: instant(failure.at) })),
    lastRedrive: entry.lastRedrive && { ...entry.lastRedrive, at: instant(entry.lastRedrive.at) },
  };
}

function instant(text: string): Date {
  const at = new Date(text);
  if (typeof text !== "string" || Number.isNaN(at.getTime())) throw new TypeError("no instant");
  return at;
}

function instantOrNull(text: string | null): Date | null {
  return text === null ? null : instant(text);
}
