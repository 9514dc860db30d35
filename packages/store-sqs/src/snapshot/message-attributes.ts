import { storableAttribute } from "./message-text.js";
import type { StoredEntry } from "./snapshot.js";

/** String attributes of a message, by name. */
export type TextAttributes = Readonly<Record<string, string>>;

/** What can be read of an entry without its body: by filters, by a person, by tracing. */
export function entryAttributes({ envelopeId, type, traceparent }: StoredEntry["envelope"]) {
  return {
    id: storableAttribute(envelopeId),
    type: storableAttribute(type),
    ...(traceparent === null ? {} : { traceparent }),
  } satisfies TextAttributes;
}

export function messageAttributes(attributes: TextAttributes) {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      { DataType: "String", StringValue: value },
    ]),
  );
}

/** As SQS counts: the body and every attribute's name, type and value, in bytes of UTF-8. */
export function messageBytes(body: string, attributes: TextAttributes): number {
  let bytes = Buffer.byteLength(body);
  for (const [name, value] of Object.entries(attributes)) {
    bytes += Buffer.byteLength(name) + "String".length + Buffer.byteLength(value);
  }
  return bytes;
}
