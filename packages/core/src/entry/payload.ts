import { InvalidArgumentError } from "../errors/invalid-argument-error.js";

/** A payload as stores keep it: JSON text exactly as serialised once, or bytes. */
export type EncodedPayload =
  | { readonly format: "json"; readonly text: string; readonly byteLength: number }
  | { readonly format: "bytes"; readonly bytes: Uint8Array; readonly byteLength: number };

/**
 * Serialises a payload so that it comes back as it went in.
 *
 * What JSON would lose silently is refused: BigInt, cycles, NaN and infinities, functions,
 * symbols, Map, Set, `undefined` in an array. As everywhere in JSON, a property that is `undefined`
 * is left out, and a `toJSON` (such as a Date's) decides what is stored.
 */
export function encodePayload(payload: unknown, argument: string): EncodedPayload {
  if (payload instanceof Uint8Array) {
    // A copy: the caller may reuse its buffer before the row is written.
    const bytes = Uint8Array.from(payload);
    return { format: "bytes", bytes, byteLength: bytes.byteLength };
  }
  let text: string;
  try {
    refuseLossy(payload ?? null, argument, []);
    text = JSON.stringify(payload ?? null);
  } catch (error) {
    if (InvalidArgumentError.isInstance(error)) throw error;
    throw new InvalidArgumentError(
      argument,
      `cannot be serialised as JSON (${error instanceof Error ? error.message : String(error)}); pass plain data, or bytes as a Uint8Array`,
      { cause: error },
    );
  }
  return { format: "json", text, byteLength: Buffer.byteLength(text) };
}

/** The inverse of `encodePayload`. */
export function decodePayload(
  encoded:
    | { readonly format: "json"; readonly text: string }
    | { readonly format: "bytes"; readonly bytes: Uint8Array },
): unknown {
  return encoded.format === "json" ? JSON.parse(encoded.text) : encoded.bytes;
}

function refuseLossy(value: unknown, path: string, ancestors: object[]): void {
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (Number.isFinite(value)) return;
      throw new InvalidArgumentError(
        path,
        `is ${value}, which JSON cannot carry; store null or text`,
      );
    case "bigint":
      throw new InvalidArgumentError(
        path,
        "is a BigInt, which JSON cannot carry; store it as text",
      );
    case "object":
      break;
    default:
      throw new InvalidArgumentError(
        path,
        `is a ${typeof value}, which JSON cannot carry; leave it out`,
      );
  }
  if (value === null) return;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return;
  if (ancestors.includes(value)) {
    throw new InvalidArgumentError(
      path,
      "contains itself, which JSON cannot carry; store a reference by id",
    );
  }
  ancestors.push(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      refuseLossy(value[index], `${path}[${index}]`, ancestors);
    }
  } else if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) {
    throw new InvalidArgumentError(
      path,
      `is a ${value.constructor.name}, which JSON would lose; convert it to an array or object first`,
    );
  } else {
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined) refuseLossy(member, `${path}.${key}`, ancestors);
    }
  }
  ancestors.pop();
}
