import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { deserializeEntry, serializeEntry } from "./serialize-entry.js";
import { testEntry } from "./test-entry.js";

const instant = fc.date({
  min: new Date(0),
  max: new Date(Date.UTC(9999, 0)),
  noInvalidDate: true,
});
const instantOrNull = fc.option(instant);
const textOrNull = fc.option(fc.string());

const entries: fc.Arbitrary<OutboxEntry> = fc
  .record({
    createdAt: instant,
    updatedAt: instant,
    availableAt: instantOrNull,
    nextRetryAt: instantOrNull,
    deliveredAt: instantOrNull,
    claimedAt: instantOrNull,
    claimExpiresAt: instantOrNull,
    claimOwner: textOrNull,
    metadata: fc.dictionary(fc.string(), fc.string({ unit: "binary" }), { noNullPrototype: true }),
    failures: fc.array(fc.record({ at: instant, code: fc.string(), message: fc.string() })),
    lastRedrive: fc.option(fc.record({ at: instant, by: textOrNull, reason: textOrNull })),
    envelope: fc.record({
      envelopeId: fc.string(),
      type: fc.string(),
      source: fc.string(),
      subject: textOrNull,
      time: instant,
      dataContentType: fc.string(),
      dataSchema: textOrNull,
      traceparent: textOrNull,
      payload: fc.oneof(
        fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
        fc.uint8Array(),
      ),
    }),
  })
  .map(testEntry);

describe("a serialised entry", () => {
  it("comes back as it went in", () => {
    fc.assert(
      fc.property(entries, (entry) => {
        expect(deserializeEntry(serializeEntry(entry))).toEqual(entry);
      }),
    );
  });

  it("is one line of JSON that says its format", () => {
    const text = serializeEntry(testEntry({ metadata: { note: "a\nb\u2028" } }));
    expect(text).not.toContain("\n");
    expect(JSON.parse(text)).toMatchObject({ format: 1, entry: { entryId: "envelope-1" } });
  });

  it("refuses a payload that it would lose", () => {
    const entry = testEntry();
    const envelope = { ...entry.envelope, payload: { a: [1n] } };
    expect(() => serializeEntry({ ...entry, envelope })).toThrow(
      expect.objectContaining({ argument: "entry.envelope.payload.a[0]" }),
    );
  });

  const text = serializeEntry(testEntry());
  const changed = (change: (serialized: Record<string, Record<string, unknown>>) => void) => {
    const serialized = JSON.parse(text);
    change(serialized);
    return JSON.stringify(serialized);
  };

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a number", 5],
    ["an empty text", ""],
    ["text cut off", text.slice(0, -10)],
    ["null", "null"],
    ["other JSON", "[]"],
    ["another format", text.replace('"format":1', '"format":2')],
    ["no entry", changed((it) => delete it["entry"])],
    ["an entry of null", '{"format":1,"entry":null,"payload":{"json":"1"}}'],
    ["no payload", changed((it) => delete it["payload"]?.["json"])],
    [
      "a payload that is no JSON",
      changed((it) => Object.assign(it["payload"] ?? {}, { json: "{" })),
    ],
    ["no failures", changed((it) => delete it["entry"]?.["failures"])],
    ["no envelope", changed((it) => delete it["entry"]?.["envelope"])],
    [
      "a date that is none",
      changed((it) => Object.assign(it["entry"] ?? {}, { createdAt: "soon" })),
    ],
    [
      "a date that is a number",
      changed((it) => Object.assign(it["entry"] ?? {}, { createdAt: 5 })),
    ],
    ["a missing date", changed((it) => delete it["entry"]?.["claimedAt"])],
  ])("is not mistaken for something else: %s", (_, other) => {
    expect(() => deserializeEntry(other as string)).toThrow(InvalidArgumentError);
    expect(() => deserializeEntry(other as string)).toThrow(/text must be what serializeEntry/);
  });
});
