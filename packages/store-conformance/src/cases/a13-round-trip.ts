import assert from "node:assert/strict";
import type { EnqueueInput, OutboxEntry } from "@outbox/core";
import { assertOutcome } from "../assertions/raw-assertions.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, facet, harnessCan, when } from "../suite/requirements.js";

/** JSON payloads that some database or driver somewhere changes. */
const jsonPayloads: Readonly<Record<string, unknown>> = {
  "a null": null,
  "an empty text": "",
  "an empty object": {},
  "an empty list": [],
  false: false,
  zero: 0,
  "keys in no alphabetical order": { z: 1, a: 2, m: { y: 1, b: 2 }, "10": 3, "9": 4 },
  "a key that is empty": { "": 1 },
  "a key named __proto__": JSON.parse('{"__proto__":{"x":1},"constructor":2}'),
  "U+0000 in a text": "before\u0000after",
  "U+0000 in a key": { "a\u0000b": 1 },
  "a lone surrogate": "half \ud83d of a pair",
  "an emoji, a combining accent, a right-to-left text":
    "\u{1F4E6} e\u0301 \u05e9\u05dc\u05d5\u05dd",
  "line separators and control characters": "\u2028\u2029\r\n\t\u0007\u001f\u007f\u0085",
  quotes: `'"\`\\ \\' "" '' $1 :name @p1 ? {}`,
  "the largest integer and more": [9_007_199_254_740_991, -9_007_199_254_740_991, 2 ** 63, 1e21],
  "small and large numbers": [1e-7, 5e-324, 1.7976931348623157e308, 0.1, 100, 1.5e300],
  "a date-like text": "2024-02-30T25:61:61Z",
  "deep nesting": JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`),
  "a long text": "ä".repeat(300_000),
};

const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);

async function assertStoredAs(
  context: CaseContext,
  entryId: string,
  payload: unknown,
  what: string,
): Promise<void> {
  const row = await context.read(entryId);
  if (payload instanceof Uint8Array) {
    assert(row.payload instanceof Uint8Array, `${what} are stored as bytes`);
    assert.deepEqual([...row.payload], [...payload], `${what}, as stored`);
    assert.equal(row.payloadBytes, payload.byteLength);
  } else {
    assert.equal(row.payload, JSON.stringify(payload), `${what}, as stored`);
    assert.equal(row.payloadBytes, Buffer.byteLength(JSON.stringify(payload)));
  }
}

function assertPayload(
  entry: OutboxEntry | null | undefined,
  payload: unknown,
  what: string,
): void {
  assert(entry, `${what}: the entry is there`);
  const actual = entry.envelope.payload;
  if (payload instanceof Uint8Array) {
    assert(actual instanceof Uint8Array, `${what} come back as bytes`);
    assert.deepEqual([...actual], [...payload], what);
    return;
  }
  assert.deepEqual(actual, payload, what);
  // Deep equality does not look at the order of keys.
  assert.equal(JSON.stringify(actual), JSON.stringify(payload), `${what}, with its keys in order`);
}

const json: ConformanceCase = {
  id: "A13-json-payloads",
  invariant: "A13",
  title: "any JSON comes back as it went in, key order and U+0000 included",
  requires: always,
  run: async (context) => {
    const named = Object.entries(jsonPayloads);
    const results = await context.enqueue(
      named.map(([, payload]) => ({ type: "order.placed", payload })),
    );
    const { claims } = await context.claim();
    const byId = new Map(claims.map(({ entry }) => [entry.entryId, entry]));
    for (const [index, [what, payload]] of named.entries()) {
      const { entryId } = results[index] ?? { entryId: "" };
      await assertStoredAs(context, entryId, payload, what);
      assertPayload(byId.get(entryId), payload, what);
      const found = await context.store.findByOutboxEntryId?.(entryId);
      if (found !== undefined) assertPayload(found, payload, `${what}, found by id`);
    }
  },
};

const bytes: ConformanceCase = {
  id: "A13-bytes",
  invariant: "A13",
  title: "bytes come back as bytes, whatever they are",
  requires: always,
  run: async (context) => {
    const payloads = [everyByte, new Uint8Array(0), new TextEncoder().encode('{"not":"json"}')];
    const buffer = Buffer.from([1, 2, 3]);
    const results = await context.enqueue([
      ...payloads.map((payload) => ({ type: "file.stored", payload })),
      { type: "file.stored", payload: buffer },
    ]);
    buffer.fill(0);
    const { claims } = await context.claim();
    for (const [index, payload] of [...payloads, Uint8Array.of(1, 2, 3)].entries()) {
      const { entryId } = results[index] ?? { entryId: "" };
      await assertStoredAs(context, entryId, payload, "bytes");
      const claim = claims.find(({ entry }) => entry.entryId === entryId);
      assertPayload(claim?.entry, payload, "bytes");
      assert.equal(claim?.entry.envelope.dataContentType, "application/octet-stream");
    }
  },
};

const attributed: EnqueueInput = {
  type: "order.placed",
  envelopeId: "e-1",
  destination: "billing",
  source: "/shops/é?x=1#y",
  subject: "order/'1' -- \u{1F4E6}",
  time: new Date("2024-02-29T23:59:59.987Z"),
  dataContentType: "application/vnd.order+json; v=2",
  dataSchema: "https://schemas.example/order.json",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  metadata: {
    plain: "value",
    empty: "",
    'quoted "key"': "it's",
    "\u{1F4E6}": "line\nbreak\u2028",
    __proto__x: "y",
  },
  payload: { number: 1 },
};

function assertAttributes(entry: OutboxEntry, input: EnqueueInput, who: string): void {
  const { payload: _, ...envelope } = entry.envelope;
  assert.deepEqual(
    { ...envelope, time: envelope.time.toISOString() },
    {
      envelopeId: input.envelopeId,
      type: input.type,
      source: input.source,
      subject: input.subject,
      time: input.time?.toISOString(),
      dataContentType: input.dataContentType,
      dataSchema: input.dataSchema,
      traceparent: input.traceparent,
    },
    `the envelope's attributes, ${who}`,
  );
  assert.deepEqual({ ...entry.metadata }, input.metadata, `metadata, ${who}`);
  assert.equal(entry.destination, input.destination);
}

const attributes: ConformanceCase = {
  id: "A13-attributes-and-metadata",
  invariant: "A13",
  title: "every attribute of the envelope and all metadata come back as they went in",
  requires: always,
  run: async (context) => {
    await context.enqueueOne(attributed);
    const claim = await context.claimOne();
    assertAttributes(claim.entry, attributed, "as claimed");
    assert.deepEqual((await context.read(claim.entry.entryId)).metadata, attributed.metadata);
    await context.store.releaseClaim(claim);
    const again = await context.claimOne();
    assertAttributes(again.entry, attributed, "after a release");
    const plain = await context.enqueueOne({ payload: undefined });
    const { entry } = await context.claimOne();
    assert.equal(entry.entryId, plain);
    assert.deepEqual(
      [entry.envelope.subject, entry.envelope.dataSchema, entry.envelope.traceparent],
      [null, null, null],
    );
    assert.deepEqual({ ...entry.metadata }, {});
    assert.equal(entry.envelope.payload, null, "no payload is null");
  },
};

const instants: ConformanceCase = {
  id: "A13-instants",
  invariant: "A13",
  title: "instants come back to the millisecond: leap days, summer time gaps, far years",
  requires: ({ capabilities: { maxDelayMs } }) =>
    maxDelayMs === null ? "run" : { notRun: `the store declares maxDelayMs: ${maxDelayMs}` },
  run: async (context) => {
    const times = [
      "1970-01-01T00:00:00.001Z",
      "2024-02-29T23:59:59.999Z",
      "2024-03-31T01:30:00.123Z",
      "2024-10-27T01:30:00.456Z",
      "2099-12-31T23:59:59.999Z",
    ].map((text) => new Date(text));
    const results = await context.enqueue(
      times.map((time) => ({ type: "order.placed", time, availableAt: time })),
    );
    for (const [index, time] of times.entries()) {
      const row = await context.read(results[index]?.entryId ?? "");
      assert.equal(row.availableAt, time.getTime(), `availableAt ${time.toISOString()}, as stored`);
    }
    const { claims } = await context.claim();
    assert.equal(claims.length, 4, "all that are past");
    for (const { entry } of claims) {
      assert.equal(
        entry.envelope.time.getTime(),
        entry.availableAt?.getTime(),
        "the two instants of an entry are the same one",
      );
    }
    assert.deepEqual(
      claims.map(({ entry }) => entry.envelope.time.toISOString()).sort(),
      times.slice(0, 4).map((time) => time.toISOString()),
    );
  },
};

const variants: ConformanceCase = {
  id: "A13-session-variants",
  invariant: "A13",
  title: "what one session wrote, a differently set up one reads unchanged",
  requires: when(harnessCan("sessionVariants")),
  run: async (context) => {
    const stores = [context.store];
    for (const variant of context.sessionVariants ?? []) stores.push(await variant.openStore());
    for (const [writer, store] of stores.entries()) {
      const reader = stores[(writer + 1) % stores.length] ?? context.store;
      const input = { ...attributed, envelopeId: `e-${writer}`, payload: jsonPayloads };
      const availableAt = new Date("2024-03-31T01:30:00.123Z");
      const result = await store.enqueue({ ...input, availableAt }, { autonomous: true });
      assert.equal((await context.read(result.entryId)).availableAt, availableAt.getTime());
      const claim = await context.claimOne({ workerId: `reader-${writer}` }, reader);
      assertAttributes(claim.entry, input, `written by session ${writer}`);
      assertPayload(claim.entry, jsonPayloads, `written by session ${writer}`);
      assert.equal(claim.entry.availableAt?.getTime(), availableAt.getTime());
    }
  },
};

const badIds: readonly (readonly [string, unknown])[] = [
  ["empty", ""],
  ["with a lone surrogate", "half \ud83d"],
  ["with U+0000", "a\u0000b"],
  ["longer than 255", "x".repeat(256)],
  ["no text", 1],
];

const refusedIds: ConformanceCase = {
  id: "A13-bad-ids-are-refused",
  invariant: "A13",
  title:
    "ids, types, destinations and owners that cannot be stored as they are, are refused by name",
  requires: always,
  run: async (context) => {
    for (const [what, value] of badIds) {
      for (const attribute of ["type", "envelopeId", "entryId", "destination"]) {
        const input = { type: "order.placed", [attribute]: value } as EnqueueInput;
        await assert.rejects(
          context.enqueue([input]),
          (error: { readonly code?: string; readonly argument?: string }) =>
            error.code === "outbox.invalid_argument" &&
            error.argument?.endsWith(attribute) === true,
          `${attribute}, ${what}`,
        );
      }
      await assert.rejects(
        context.store.claim({ workerId: value as string }),
        { code: "outbox.invalid_argument" },
        `workerId, ${what}`,
      );
    }
    assert.deepEqual(await context.raw.readEntries(), []);
  },
};

const longestIds: ConformanceCase = {
  id: "A13-longest-ids",
  invariant: "A13",
  title: "ids, types, destinations and owners of 255 characters are stored whole, in any script",
  requires: always,
  run: async (context) => {
    for (const character of ["x", "é", "漢"]) {
      const long = (prefix: string) => prefix + character.repeat(254);
      const entryId = await context.enqueueOne({
        type: long("t"),
        envelopeId: long("v"),
        entryId: long("n"),
        destination: long("d"),
      });
      assert.equal(entryId, long("n"));
      const claim = await context.claimOne({ workerId: long("w") });
      const row = await context.read(entryId);
      assert.deepEqual(
        [row.entryId, row.envelopeId, row.type, row.destination, row.claimOwner],
        [long("n"), long("v"), long("t"), long("d"), long("w")],
      );
      assertOutcome(await context.store.markClaimDelivered(claim), "applied", "markClaimDelivered");
    }
  },
};

/** Texts about an error that some store refuses, or that would grow without bound. */
const badTexts: readonly (readonly [string, string])[] = [
  ["U+0000", "before\u0000after"],
  ["a lone surrogate", "half \ud83d of a pair"],
  ["two million characters", "long ".repeat(400_000)],
  ["quotes and placeholders", `'"\\ $1 :name @p1 ?`],
  ["nothing", ""],
];

const errorTexts: ConformanceCase = {
  id: "A13-error-texts",
  invariant: "A13",
  title: "no error text makes an entry unfinalizable: it is stored sanitised and bounded",
  requires: always,
  run: async (context) => {
    for (const [what, text] of badTexts) {
      const entryId = await context.enqueueOne();
      const error = { code: `code ${text}`, message: `message ${text}`, isRetryable: true };
      const failed = await context.store.markClaimFailed(await context.claimOne(), error, {
        retryInMs: 0,
      });
      assertOutcome(failed, "applied", `a failure with ${what}`);
      const row = await context.read(entryId);
      const [failure] = row.failures;
      assert(failure, `the failure with ${what} is remembered`);
      assert(failure.message.startsWith("message "), `the message with ${what} can be read`);
      assert(
        failure.message.length <= 10_000 && failure.code.length <= 1_000,
        `${what} is bounded`,
      );
      const dead = await context.store.markClaimDeadLettered(
        await context.claimOne(),
        error,
        `reason ${text}`,
      );
      assertOutcome(dead, "applied", `a dead letter with ${what}`);
      const reason = (await context.read(entryId)).deadLetterReason ?? "";
      assert(reason.startsWith("reason "), `the reason with ${what} can be read`);
      assert(reason.length <= 10_000, `the reason with ${what} is bounded`);
    }
  },
};

const badTextInBatch: ConformanceCase = {
  id: "A13-error-text-in-a-batch",
  invariant: "A13",
  title: "a bad text about one entry does not keep the rest of its batch from being finalized",
  requires: always,
  run: async (context) => {
    await context.enqueue(5);
    const { claims } = await context.claim();
    const transitions = await context.store.completeClaims(
      claims.map((claim, index) => ({
        claim,
        kind: "failed",
        error: {
          code: "test",
          message: index === 2 ? "\u0000\ud83d" : `fine ${index}`,
          isRetryable: false,
        },
      })),
    );
    assert.deepEqual(
      transitions.map((transition) => transition.outcome),
      claims.map(() => "applied"),
    );
    const rows = await context.raw.readEntries();
    assert.deepEqual(
      rows.map((row) => row.status),
      rows.map(() => "failed"),
    );
    assert.equal(rows[1]?.failures[0]?.message, "fine 1");
  },
};

const failuresBounded: ConformanceCase = {
  id: "A13-failures-are-bounded",
  invariant: "A13",
  title: "the last few failures are remembered, oldest first, and not all of them for ever",
  requires: always,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const count = 12;
    for (let index = 1; index <= count; index++) {
      const error = { code: "test", message: `failure ${index}`, isRetryable: true };
      await context.store.markClaimFailed(await context.claimOne(), error, { retryInMs: 0 });
    }
    const { failures, retryCount } = await context.read(entryId);
    assert.equal(retryCount, count);
    assert(failures.length >= 1 && failures.length < count, `${failures.length} are remembered`);
    assert.deepEqual(
      failures.map((failure) => failure.message),
      Array.from(
        { length: failures.length },
        (_, index) => `failure ${count - failures.length + index + 1}`,
      ),
    );
  },
};

const deepCopies: ConformanceCase = {
  id: "A13-entries-are-the-callers-own",
  invariant: "A13",
  title: "changing what was passed in or given out changes nothing stored",
  requires: when(facet("selection")),
  run: async (context) => {
    const payload = { list: [1, 2, 3] };
    const metadata = { note: "as enqueued" };
    const entryId = await context.enqueueOne({ payload, metadata });
    payload.list.push(4);
    metadata.note = "changed by the producer";
    const found = await context.store.findByOutboxEntryId?.(entryId);
    const given = found?.envelope.payload as { list: number[] };
    assert.deepEqual(given, { list: [1, 2, 3] });
    given.list.length = 0;
    const row = await context.read(entryId);
    assert.equal(row.payload, '{"list":[1,2,3]}');
    assert.deepEqual(row.metadata, { note: "as enqueued" });
    assert.deepEqual((await context.claimOne()).entry.envelope.payload, { list: [1, 2, 3] });
  },
};

export const roundTrip: readonly ConformanceCase[] = [
  json,
  bytes,
  attributes,
  instants,
  variants,
  refusedIds,
  longestIds,
  errorTexts,
  badTextInBatch,
  failuresBounded,
  deepCopies,
];
