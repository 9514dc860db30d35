import { types } from "node:util";
import { errorMessage } from "../errors/error-message.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { isPlainJson } from "./is-plain-json.js";

/** A payload as stores keep it: JSON text exactly as serialised once, or bytes. */
export type EncodedPayload =
  | { readonly format: "json"; readonly text: string; readonly byteLength: number }
  | { readonly format: "bytes"; readonly bytes: Uint8Array; readonly byteLength: number };

/**
 * Serialises a payload so that it comes back as it went in.
 *
 * What JSON would lose silently is refused: NaN and infinities, functions, symbols, Map, Set and
 * the like, an invalid Date, `undefined` in an array; and so is what it cannot carry at all: BigInt,
 * cycles. As everywhere in JSON, a property that is `undefined` is left out, -0 becomes 0, and a
 * `toJSON` (such as a Date's) decides what is stored.
 */
export function encodePayload(payload: unknown, argument: string): EncodedPayload {
  if (types.isUint8Array(payload)) {
    // A copy: the caller may reuse its buffer before the row is written.
    const bytes = new Uint8Array(payload);
    return { format: "bytes", bytes, byteLength: bytes.byteLength };
  }
  const text = toJson(payload ?? null, argument);
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

function toJson(payload: unknown, argument: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(payload, isPlainJson(payload) ? undefined : refuseLoss(argument));
  } catch (error) {
    if (InvalidArgumentError.isInstance(error)) throw error;
    const hint = error instanceof RangeError ? ": is it nested too deeply, or too large?" : "";
    throw new InvalidArgumentError(
      argument,
      `cannot be serialised as JSON (${errorMessage(error)}${hint}); pass plain data, or bytes as a Uint8Array`,
      { cause: error },
    );
  }
  if (text !== undefined) return text;
  throw new InvalidArgumentError(
    argument,
    "has a toJSON() that returns nothing; return plain data",
  );
}

/** A replacer, so that what is checked is what is stored: members after their `toJSON`. */
function refuseLoss(argument: string) {
  const places = new Map<object, readonly [holder: object, key: string]>();
  const pathOf = (holder: object, key: string): string => {
    const place = places.get(holder);
    // Only what JSON.stringify wraps around the payload itself has no place.
    if (place === undefined) return argument;
    return `${pathOf(...place)}${Array.isArray(holder) ? `[${key}]` : `.${key}`}`;
  };
  return function (this: object, key: string, value: unknown): unknown {
    const loss = lossOf(value, this, key);
    if (loss !== null) throw new InvalidArgumentError(pathOf(this, key), loss);
    if (typeof value === "object" && value !== null) places.set(value, [this, key]);
    return value;
  };
}

function lossOf(value: unknown, holder: object, key: string): string | null {
  switch (typeof value) {
    case "number":
      return lossOfNumber(value);
    case "bigint":
      return "is a BigInt, which JSON cannot carry; store it as text";
    case "function":
    case "symbol":
      return `is a ${typeof value}, which JSON cannot carry; leave it out`;
    case "undefined":
      return Array.isArray(holder)
        ? "is undefined, which JSON would turn into null; store null"
        : null;
    case "object":
      if (value !== null) return lossOfObject(value);
      return types.isDate(Reflect.get(holder, key))
        ? "is an invalid Date, which JSON would turn into null; store null or a valid one"
        : null;
    default:
      return null;
  }
}

function lossOfNumber(value: number): string | null {
  return Number.isFinite(value) ? null : `is ${value}, which JSON cannot carry; store null or text`;
}

function lossOfObject(value: object): string | null {
  if (types.isNumberObject(value)) return lossOfNumber(Number(value));
  return losesContents(value)
    ? `is a ${Object.prototype.toString.call(value).slice("[object ".length, -1)}, which JSON would lose; convert it to an array, an object or text first`
    : null;
}

/** Objects that keep what they hold where `JSON.stringify` does not look. */
function losesContents(value: object): boolean {
  return (
    types.isMap(value) ||
    types.isSet(value) ||
    types.isWeakMap(value) ||
    types.isWeakSet(value) ||
    types.isPromise(value) ||
    types.isNativeError(value) ||
    types.isRegExp(value) ||
    types.isSymbolObject(value) ||
    types.isAnyArrayBuffer(value) ||
    ArrayBuffer.isView(value)
  );
}
