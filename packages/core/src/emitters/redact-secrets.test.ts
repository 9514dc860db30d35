import { expect, it } from "vitest";
import { redactSecrets } from "./redact-secrets.js";

const request = {
  url: new URL("https://hooks.test/services/T0123456789ABCDEFGHIJ/events?token=s3cr3t-t0ken&v=1"),
  headers: {
    authorization: "Bearer abcdef123456",
    cookie: "session=qwertyuiop",
    accept: "text/plain",
  },
};

it.each([
  ["got Authorization: Bearer abcdef123456", "got Authorization: [redacted]"],
  ["bad token abcdef123456!", "bad token [redacted]!"],
  ["session qwertyuiop expired", "session [redacted] expired"],
  ["no query s3cr3t-t0ken here", "no query [redacted] here"],
  ["Cannot POST /services/T0123456789ABCDEFGHIJ/events", "Cannot POST /services/[redacted]/events"],
  ["expected text/plain, version 1", "expected text/plain, version 1"],
])("turns %j into %j", (text, clean) => {
  expect(redactSecrets(text, request)).toBe(clean);
});
