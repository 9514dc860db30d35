import { maxIdLength } from "../entry/entry-id.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";

/** Longest delay anyone can mean, in ms: ten years. */
export const maxDelayMs = 10 * 365 * 24 * 60 * 60 * 1_000;

/** Shows a refused value without repeating something long or secret. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") {
    return value.length > 40 ? `a string of ${value.length} characters` : JSON.stringify(value);
  }
  if (typeof value === "number" || typeof value === "boolean" || value === undefined) {
    return String(value);
  }
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return `a ${value.constructor?.name ?? "plain object"}`;
  return `a ${typeof value}`;
}

export function requireObject(argument: string, value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError(argument, `must be an object, not ${describeValue(value)}`);
  }
  return value as Record<string, unknown>;
}

/** A misspelt option would silently leave a default in place, or widen a filter. */
export function refuseUnknownKeys(argument: string, value: object, known: readonly string[]): void {
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined && !known.includes(key)) {
      throw new InvalidArgumentError(
        `${argument}.${key}`,
        `is not known here; known are: ${known.join(", ")}`,
      );
    }
  }
}

export function requireInteger(
  argument: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw new InvalidArgumentError(
      argument,
      `must be an integer from ${min} to ${max}, not ${describeValue(value)}`,
    );
  }
  return value;
}

export function requireDurationMs(
  argument: string,
  value: unknown,
  { min = 0, max = maxDelayMs }: { readonly min?: number; readonly max?: number } = {},
): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < min || value > max) {
    throw new InvalidArgumentError(
      argument,
      `must be a duration in ms from ${min} to ${max}, not ${describeValue(value)}`,
    );
  }
  return Math.round(value);
}

/** An id, type, key, owner or destination. */
export function requireId(argument: string, value: unknown): string {
  return requireFilledText(argument, value, maxIdLength);
}

/** A text that says something. */
export function requireFilledText(argument: string, value: unknown, maxLength: number): string {
  const text = requireText(argument, value, maxLength);
  if (text.length === 0) throw new InvalidArgumentError(argument, "must not be empty");
  return text;
}

/** Any text; for what is sanitised before it is stored, or kept as JSON. */
export function requireString(argument: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new InvalidArgumentError(argument, `must be a string, not ${describeValue(value)}`);
  }
  return value;
}

/** A text that databases take as it is. */
function requireText(argument: string, given: unknown, maxLength: number): string {
  const value = requireString(argument, given);
  if (value.length > maxLength) {
    throw new InvalidArgumentError(
      argument,
      `must have at most ${maxLength} characters, not ${value.length}; shorten it, or hash it if it must stay unique`,
    );
  }
  if (value.includes("\u0000")) {
    throw new InvalidArgumentError(argument, "must not contain U+0000, which databases refuse");
  }
  if (/\p{Surrogate}/u.test(value)) {
    throw new InvalidArgumentError(
      argument,
      "must be well-formed Unicode; it contains a lone surrogate (half of a character)",
    );
  }
  return value;
}

const latestInstant = Date.UTC(9999, 11, 31);

export function requireInstant(argument: string, value: unknown): Date {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) {
    throw new InvalidArgumentError(argument, `must be a valid Date, not ${describeValue(value)}`);
  }
  if (value.getTime() < 0 || value.getTime() > latestInstant) {
    throw new InvalidArgumentError(
      argument,
      `must lie between the years 1970 and 9999, not ${value.toISOString()}`,
    );
  }
  // A copy: a Date can be changed.
  return new Date(value);
}

export function requireOneOf<const Value extends string>(
  argument: string,
  value: unknown,
  allowed: readonly Value[],
): Value {
  if (!(allowed as readonly unknown[]).includes(value)) {
    throw new InvalidArgumentError(
      argument,
      `must be one of ${allowed.map((one) => `"${one}"`).join(", ")}, not ${describeValue(value)}`,
    );
  }
  return value as Value;
}

export function requireBoolean(argument: string, value: unknown): boolean {
  if (typeof value !== "boolean") {
    throw new InvalidArgumentError(argument, `must be true or false, not ${describeValue(value)}`);
  }
  return value;
}

export function requireFunction(argument: string, value: unknown): void {
  if (typeof value !== "function") {
    throw new InvalidArgumentError(argument, `must be a function, not ${describeValue(value)}`);
  }
}

/** A non-empty list; an empty one would silently match nothing or everything. */
export function requireList<Item>(
  argument: string,
  value: unknown,
  item: (argument: string, value: unknown) => Item,
): readonly Item[] {
  if (!Array.isArray(value)) {
    throw new InvalidArgumentError(argument, `must be an array, not ${describeValue(value)}`);
  }
  if (value.length === 0) {
    throw new InvalidArgumentError(
      argument,
      "must not be empty; leave it out to mean no condition",
    );
  }
  // Not `value.map`, which would leave a hole a hole.
  return Array.from(value, (one, index) => item(`${argument}[${index}]`, one));
}
