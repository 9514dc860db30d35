/**
 * Instants travel as microseconds since 1970, as text: independent of TimeZone, DateStyle and
 * IntervalStyle, and without a `Date` that would round them.
 */
export function instantToText(expression: string): string {
  return `(extract(epoch from ${expression}) * 1000000)::bigint::text`;
}

/** The instant of a number of microseconds (an SQL expression of type bigint). */
export function instantFromMicroseconds(expression: string): string {
  return `('epoch'::timestamptz + ${expression} * interval '1 microsecond')`;
}

/** The instant of a number of milliseconds (an SQL expression of a numeric type). */
export function instantFromMilliseconds(expression: string): string {
  return `('epoch'::timestamptz + ${expression} * interval '1 millisecond')`;
}

/** Cuts to whole milliseconds, as `Date` does. */
export function microsecondsToDate(microseconds: string): Date {
  return new Date(Math.floor(Number(microseconds) / 1000));
}
