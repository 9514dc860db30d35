import { describe, expect, it } from "vitest";
import { retryAfterMs } from "./retry-after.js";

const date = "Sun, 06 Nov 1994 08:49:37 GMT";
const dayMs = 24 * 60 * 60 * 1_000;

describe("retryAfterMs", () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "120" }, 120_000],
    ["seconds beyond a day", { "retry-after": "99999999999999999999" }, dayMs],
    ["a date", { "retry-after": "Sun, 06 Nov 1994 08:50:07 GMT", date }, 30_000],
    ["a date beyond a day", { "retry-after": "Wed, 09 Nov 1994 08:49:37 GMT", date }, dayMs],
    ["a date in an old form", { "retry-after": "Sun Nov  6 08:49:40 1994", date }, 3_000],
    ["a date without the response's own", { "retry-after": date }, undefined],
    ["a date with a garbled one of the response", { "retry-after": date, date: "?" }, undefined],
    [
      "a date in the past",
      { "retry-after": date, date: "Sun, 06 Nov 1994 09:00:00 GMT" },
      undefined,
    ],
    ["zero", { "retry-after": "0" }, undefined],
    ["a negative number", { "retry-after": "-5" }, undefined],
    ["a fraction", { "retry-after": "1.5" }, undefined],
    ["two values", { "retry-after": "5, 10" }, undefined],
    ["words", { "retry-after": "soon" }, undefined],
    ["nothing", {}, undefined],
  ])("of %s", (_, headers, expected) => {
    expect(retryAfterMs(new Headers(headers))).toBe(expected);
  });
});
