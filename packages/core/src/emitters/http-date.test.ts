import { describe, expect, it } from "vitest";
import { parseHttpDate } from "./http-date.js";

const instant = Date.UTC(1994, 10, 6, 8, 49, 37);

describe("parseHttpDate", () => {
  it.each([
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "  Sun, 06 Nov 1994 08:49:37 GMT ",
  ])("understands %j", (text) => {
    expect(parseHttpDate(text)).toBe(instant);
  });

  it("takes a two-digit year for the nearer century", () => {
    const nextYear = new Date().getUTCFullYear() + 1;
    const digits = String(nextYear % 100).padStart(2, "0");
    expect(parseHttpDate(`Monday, 01-Jan-${digits} 00:00:00 GMT`)).toBe(Date.UTC(nextYear, 0, 1));
  });

  it.each([
    "",
    "120",
    "tomorrow",
    "1994-11-06T08:49:37Z",
    "Sun, 06 Nov 1994 08:49:37 +0100",
    "Sun, 06 Nov 1994 25:00:00 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 06 Xxx 1994 08:49:37 GMT",
  ])("does not take %j for a date", (text) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });
});
