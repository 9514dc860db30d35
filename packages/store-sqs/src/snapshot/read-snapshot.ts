import type { EmissionStatus, EncodedPayload, EntryFailure, EntryRedrive } from "@outbox/core";
import { type Snapshot, snapshotVersion } from "./snapshot.js";

/** What a body turned out to be. */
export type ReadBody =
  | { readonly kind: "snapshot"; readonly snapshot: Snapshot }
  /** Written by a later version of this package: not for this worker. */
  | { readonly kind: "newer"; readonly version: number }
  /** Somebody else's message, or a damaged one. */
  | { readonly kind: "unusable"; readonly problem: string };

const statuses: readonly string[] = [
  "pending",
  "deferred",
  "retryable-failure",
  "failed",
  "dead-lettered",
] satisfies readonly EmissionStatus[];

/** Reads the body of a message; whatever it is, it does not throw. */
export function readSnapshot(body: string): ReadBody {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { kind: "unusable", problem: "the body is not JSON" };
  }
  const version =
    typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, "outbox") : undefined;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) {
    return { kind: "unusable", problem: "the body is not an outbox entry (no field `outbox`)" };
  }
  if (version > snapshotVersion) return { kind: "newer", version };
  try {
    return { kind: "snapshot", snapshot: snapshotOf(new Fields(parsed as object)) };
  } catch (error) {
    return { kind: "unusable", problem: error instanceof Error ? error.message : String(error) };
  }
}

function snapshotOf(fields: Fields): Snapshot {
  const status = fields.text("status");
  if (!statuses.includes(status)) throw new TypeError(`the field \`status\` is "${status}"`);
  return {
    generation: fields.count("generation"),
    notBefore: fields.instantOrNull("notBefore"),
    entry: {
      entryId: fields.text("entryId"),
      destination: fields.text("destination"),
      envelope: {
        envelopeId: fields.text("envelopeId"),
        type: fields.text("type"),
        source: fields.text("source"),
        subject: fields.textOrNull("subject"),
        time: fields.instant("time"),
        dataContentType: fields.text("dataContentType"),
        dataSchema: fields.textOrNull("dataSchema"),
        traceparent: fields.textOrNull("traceparent"),
      },
      metadata: fields.texts("metadata"),
      orderingKey: fields.textOrNull("orderingKey"),
      payloadBytes: fields.count("payloadBytes"),
      status: status as EmissionStatus,
      createdAt: fields.instant("createdAt"),
      updatedAt: fields.instant("updatedAt"),
      availableAt: fields.instantOrNull("availableAt"),
      nextRetryAt: fields.instantOrNull("nextRetryAt"),
      deliveredAt: null,
      providerMessageId: null,
      deadLetterReason: fields.textOrNull("deadLetterReason"),
      retryCount: fields.countOrZero("retryCount"),
      failures: fields.list("failures").map(failureOf),
      lastRedrive: fields.has("lastRedrive") ? redriveOf(fields.part("lastRedrive")) : null,
      claimAttemptCount: fields.countOrZero("claimAttemptCount"),
    },
    payload: payloadOf(fields),
  };
}

function payloadOf(fields: Fields): EncodedPayload {
  const byteLength = fields.count("payloadBytes");
  if (fields.has("payloadBase64")) {
    const bytes = Uint8Array.from(Buffer.from(fields.text("payloadBase64"), "base64"));
    if (bytes.byteLength === byteLength) return { format: "bytes", bytes, byteLength };
  } else if (fields.has("payload")) {
    const text = JSON.stringify(fields.value("payload"));
    if (Buffer.byteLength(text) === byteLength) return { format: "json", text, byteLength };
  }
  throw new TypeError("the payload is missing, or not as long as `payloadBytes` says");
}

function failureOf(fields: Fields): EntryFailure {
  return { at: fields.instant("at"), code: fields.text("code"), message: fields.text("message") };
}

function redriveOf(fields: Fields): EntryRedrive {
  return {
    at: fields.instant("at"),
    by: fields.textOrNull("by"),
    reason: fields.textOrNull("reason"),
  };
}

/** Fields of a parsed body, each checked as it is read. Unknown ones are left alone. */
class Fields {
  readonly #parsed: object;

  constructor(parsed: object) {
    this.#parsed = parsed;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#parsed, name);
  }

  value(name: string): unknown {
    return this.has(name) ? Reflect.get(this.#parsed, name) : undefined;
  }

  text(name: string): string {
    const value = this.value(name);
    if (typeof value === "string") return value;
    throw new TypeError(`the field \`${name}\` is missing or no text`);
  }

  textOrNull(name: string): string | null {
    return (this.value(name) ?? null) === null ? null : this.text(name);
  }

  count(name: string): number {
    const value = this.value(name);
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    throw new TypeError(`the field \`${name}\` is missing or no count`);
  }

  countOrZero(name: string): number {
    return this.has(name) ? this.count(name) : 0;
  }

  instant(name: string): Date {
    const instant = new Date(this.text(name));
    if (!Number.isNaN(instant.getTime())) return instant;
    throw new TypeError(`the field \`${name}\` is no instant`);
  }

  instantOrNull(name: string): Date | null {
    return (this.value(name) ?? null) === null ? null : this.instant(name);
  }

  part(name: string): Fields {
    const value = this.value(name);
    if (typeof value === "object" && value !== null) return new Fields(value);
    throw new TypeError(`the field \`${name}\` is no object`);
  }

  list(name: string): readonly Fields[] {
    const value = this.value(name) ?? [];
    if (!Array.isArray(value)) throw new TypeError(`the field \`${name}\` is no list`);
    return value.map((item) => {
      if (typeof item === "object" && item !== null) return new Fields(item);
      throw new TypeError(`the field \`${name}\` holds something that is no object`);
    });
  }

  texts(name: string): Readonly<Record<string, string>> {
    if (!this.has(name)) return {};
    const entries = Object.entries(this.part(name).#parsed);
    if (entries.every(([, value]) => typeof value === "string")) return Object.fromEntries(entries);
    throw new TypeError(`the field \`${name}\` holds something that is no text`);
  }
}
