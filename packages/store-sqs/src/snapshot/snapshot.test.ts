import { encodePayload } from "@outbox/core";
import { expect, test } from "vitest";
import { messageAttributes, messageBytes } from "./message-attributes.js";
import { storableAttribute } from "./message-text.js";
import { readSnapshot } from "./read-snapshot.js";
import type { Snapshot } from "./snapshot.js";
import { writeSnapshot } from "./write-snapshot.js";

const at = new Date("2026-01-02T03:04:05.678Z");

function snapshot(payload: unknown, changes: Partial<Snapshot["entry"]> = {}): Snapshot {
  const encoded = encodePayload(payload, "payload");
  return {
    generation: 3,
    notBefore: null,
    payload: encoded,
    entry: {
      entryId: "e-1",
      destination: "billing",
      envelope: {
        envelopeId: "v-1",
        type: "order.placed",
        source: "/shop",
        subject: null,
        time: at,
        dataContentType: "application/json",
        dataSchema: null,
        traceparent: null,
      },
      metadata: {},
      orderingKey: null,
      payloadBytes: encoded.byteLength,
      status: "pending",
      createdAt: at,
      updatedAt: at,
      availableAt: null,
      nextRetryAt: null,
      deliveredAt: null,
      providerMessageId: null,
      deadLetterReason: null,
      retryCount: 0,
      failures: [],
      lastRedrive: null,
      claimAttemptCount: 0,
      ...changes,
    },
  };
}

/** What SQS takes in a body. */
const allowed = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd]*$/;

test.each([
  ["plain JSON", { b: 1, a: [true, null, 0.1, 1e21], "10": "x", "9": "y" }],
  ["what XML has no characters for", "\u0000 \u0007 \ufffe \uffff \ud83d lone"],
  ["what needs two UTF-16 units", { "\u{1F4E6}": "\u{1F600}" }],
  ["nothing", null],
  ["a key named __proto__", JSON.parse('{"__proto__":{"x":1}}')],
])("%s comes back as it went in, in characters that SQS takes", (_what, payload) => {
  const written = snapshot(payload, { metadata: { "\uffff": "\u{1F4E6}" } });
  const body = writeSnapshot(written);
  expect(body).toMatch(allowed);
  expect(readSnapshot(body)).toEqual({ kind: "snapshot", snapshot: written });
});

test("bytes come back as bytes", () => {
  const written = snapshot(Uint8Array.from({ length: 256 }, (_, index) => index));
  expect(readSnapshot(writeSnapshot(written))).toEqual({ kind: "snapshot", snapshot: written });
});

test("every field comes back", () => {
  const written: Snapshot = {
    ...snapshot(
      { n: 1 },
      {
        metadata: { note: "x" },
        orderingKey: "order-1",
        status: "retryable-failure",
        availableAt: at,
        nextRetryAt: at,
        deadLetterReason: "none",
        retryCount: 4,
        failures: [{ at, code: "http.503", message: "unavailable" }],
        lastRedrive: { at, by: "ops", reason: null },
        claimAttemptCount: 9,
      },
    ),
    notBefore: at,
  };
  expect(readSnapshot(writeSnapshot(written))).toEqual({ kind: "snapshot", snapshot: written });
});

/** As the first release wrote it. It must stay readable for as long as queues keep messages. */
const firstRelease =
  '{"outbox":1,"generation":2,"entryId":"e-7","destination":"default","envelopeId":"v-7","type":"order.placed","source":"/outbox","time":"2026-01-02T03:04:05.678Z","dataContentType":"application/json","metadata":{"k":"v"},"status":"retryable-failure","createdAt":"2026-01-02T03:04:05.000Z","updatedAt":"2026-01-02T03:05:05.000Z","nextRetryAt":"2026-01-02T03:06:05.000Z","retryCount":1,"failures":[{"at":"2026-01-02T03:05:05.000Z","code":"http.503","message":"unavailable"}],"claimAttemptCount":2,"payloadBytes":7,"payload":{"n":1}}';

test("a body of the first release is read", () => {
  expect(readSnapshot(firstRelease)).toMatchObject({
    kind: "snapshot",
    snapshot: {
      generation: 2,
      notBefore: null,
      entry: { entryId: "e-7", retryCount: 1, claimAttemptCount: 2, metadata: { k: "v" } },
      payload: { format: "json", text: '{"n":1}' },
    },
  });
});

test("fields that a later release added to this version are left alone", () => {
  const later = firstRelease.replace('"generation":2', '"generation":2,"mood":"fine"');
  expect(readSnapshot(later).kind).toBe("snapshot");
});

test("a later version is told from a damaged body", () => {
  expect(readSnapshot('{"outbox":2,"anything":true}')).toEqual({ kind: "newer", version: 2 });
});

test.each([
  ["no JSON", "hello", "not JSON"],
  ["somebody else's JSON", '{"Records":[]}', "no field `outbox`"],
  ["a list", "[1]", "no field `outbox`"],
  ["a version that is none", '{"outbox":"1"}', "no field `outbox`"],
  ["a field that is missing", firstRelease.replace('"entryId":"e-7",', ""), "`entryId`"],
  [
    "a count that is none",
    firstRelease.replace('"generation":2', '"generation":-1'),
    "`generation`",
  ],
  ["an instant that is none", firstRelease.replace("2026-01-02T03:04:05.678Z", "noon"), "`time`"],
  ["a status that is none", firstRelease.replace("retryable-failure", "delivered"), "`status`"],
  ["a payload of another length", firstRelease.replace('"n":1}', '"n":10}'), "payload"],
  ["no payload", firstRelease.replace(',"payload":{"n":1}', ""), "payload"],
])("%s is unusable, and it is said why", (_what, body, problem) => {
  expect(readSnapshot(body)).toMatchObject({
    kind: "unusable",
    problem: expect.stringContaining(problem),
  });
});

test("attributes carry ids that SQS would refuse, escaped", () => {
  expect(storableAttribute("a\u0000b\u{1F4E6}\tc")).toBe("a\\u0000b\\ud83d\\udce6\tc");
  expect(messageAttributes({ id: "v-1" })).toEqual({
    id: { DataType: "String", StringValue: "v-1" },
  });
});

test("bytes are counted as SQS counts them", () => {
  expect(messageBytes("ä", { id: "é" })).toBe(2 + 2 + "String".length + 2);
});
