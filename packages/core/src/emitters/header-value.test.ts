import { expect, it } from "vitest";
import { headerValue } from "./header-value.js";

it.each([
  ["plain-ASCII_~!", "plain-ASCII_~!"],
  ["Euro € 😀", "Euro%20%E2%82%AC%20%F0%9F%98%80"],
  ['say "100%"', "say%20%22100%25%22"],
  ["line\r\nbreak", "line%0D%0Abreak"],
  ["", ""],
])("encodes %j as the CloudEvents HTTP binding does", (text, encoded) => {
  expect(headerValue(text)).toBe(encoded);
  expect(decodeURIComponent(encoded)).toBe(text);
});
