import type { OutboxEntry } from "../contract/outbox-entry.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { decodePayload, encodePayload } from "./payload.js";

const instants = [
  "createdAt",
  "updatedAt",
  "availableAt",
  "nextRetryAt",
  "deliveredAt",
  "claimedAt",
  "claimExpiresAt",
] as const satisfies readonly (keyof OutboxEntry)[];

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
  const { entry, payload } = parse(text);
  const instant = (value: unknown) => (typeof value === "string" ? new Date(value) : value);
  const restored: Record<string, unknown> = { ...entry };
  for (const key of instants) restored[key] = instant(entry[key]);
  restored["failures"] = (entry["failures"] as { at: string }[]).map((failure) => ({
    ...failure,
    at: instant(failure.at),
  }));
  const redrive = entry["lastRedrive"] as { at: string } | null;
  restored["lastRedrive"] = redrive === null ? null : { ...redrive, at: instant(redrive.at) };
  const envelope = entry["envelope"] as Record<string, unknown>;
  restored["envelope"] = {
    ...envelope,
    time: instant(envelope["time"]),
    payload:
      payload.json === undefined
        ? Uint8Array.from(Buffer.from(payload.base64 ?? "", "base64"))
        : decodePayload({ format: "json", text: payload.json }),
  };
  return restored as unknown as OutboxEntry;
}

interface Serialized {
  readonly format: 1;
  readonly entry: Record<string, unknown>;
  readonly payload: { readonly json?: string; readonly base64?: string };
}

function parse(text: string): Serialized {
  let parsed: Partial<Serialized> | null = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Refused below, together with JSON that is something else.
  }
  if (parsed?.format === 1 && parsed.entry !== undefined && parsed.payload !== undefined) {
    return parsed as Serialized;
  }
  throw new InvalidArgumentError("text", "must be what serializeEntry returned (format 1)");
}
