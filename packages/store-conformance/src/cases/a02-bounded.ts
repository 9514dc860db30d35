import assert from "node:assert/strict";
import type { OutboxClaim } from "@outbox/core";
import { assertUnclaimed } from "../assertions/raw-assertions.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, ordersExactly, when } from "../suite/requirements.js";

/** JSON of this payload is precisely `bytes` long: the text and its two quotes. */
const payloadOfBytes = (bytes: number): string => "x".repeat(bytes - 2);

async function enqueueSizes(context: CaseContext, sizes: readonly number[]): Promise<string[]> {
  const results = await context.enqueue(
    sizes.map((bytes) => ({ type: "order.placed", payload: payloadOfBytes(bytes) })),
  );
  return results.map((result) => result.entryId);
}

const idsOf = (claims: readonly OutboxClaim[]): string[] =>
  claims.map((claim) => claim.entry.entryId);

/** What was not claimed carries no stamp, not even one that was taken back. */
async function assertRestUntouched(
  context: CaseContext,
  claims: readonly OutboxClaim[],
): Promise<void> {
  const claimed = new Set(idsOf(claims));
  for (const row of await context.raw.readEntries()) {
    if (claimed.has(row.entryId)) continue;
    assertUnclaimed(row, "beyond the bound");
    if (context.capabilities.byteBound === "after-receive") continue;
    assert.equal(row.claimAttemptCount, 0, `entry ${row.entryId} beyond the bound was not claimed`);
  }
}

const maxCount: ConformanceCase = {
  id: "A2-max-count",
  invariant: "A2",
  title: "a claim of n returns n and stamps n",
  requires: always,
  run: async (context) => {
    await context.enqueue(12);
    for (const expected of [5, 5, 2]) {
      const { claims } = await context.claim({ maxCount: 5 });
      assert.equal(claims.length, expected);
      const rows = await context.raw.readEntries();
      const stamped = rows.filter((row) =>
        claims.some((claim) => claim.claimToken === row.claimToken),
      );
      assert.equal(stamped.length, expected, "as many rows carry the stamp as were returned");
    }
    const total = (await context.raw.readEntries()).reduce(
      (sum, row) => sum + row.claimAttemptCount,
      0,
    );
    assert.equal(total, 12, "each entry was claimed once");
  },
};

const neverBeyond: ConformanceCase = {
  id: "A2-never-stamped-beyond",
  invariant: "A2",
  title: "entries beyond the count carry no stamp",
  requires: always,
  run: async (context) => {
    await context.enqueue(200);
    const { claims } = await context.claim({ maxCount: 7 });
    assert.equal(claims.length, 7);
    await assertRestUntouched(context, claims);
  },
};

const countOfOne: ConformanceCase = {
  id: "A2-count-of-one",
  invariant: "A2",
  title: "a claim of one takes one",
  requires: always,
  run: async (context) => {
    await context.enqueue(3);
    const { claims } = await context.claim({ maxCount: 1 });
    assert.equal(claims.length, 1);
    await assertRestUntouched(context, claims);
  },
};

const longestPrefix: ConformanceCase = {
  id: "A2-longest-prefix",
  invariant: "A2",
  title: "the byte bound takes the longest prefix that fits, to the byte",
  requires: when(ordersExactly),
  run: async (context) => {
    const ids = await enqueueSizes(context, [100, 200, 300, 50, 40]);
    const { claims } = await context.claim({ maxBytes: 600, maxCount: 10 });
    assert.deepEqual(idsOf(claims), ids.slice(0, 3), "a sum that equals the bound is within it");
    await assertRestUntouched(context, claims);
    const rest = await context.claim({ maxBytes: 89, maxCount: 10 });
    assert.deepEqual(idsOf(rest.claims), ids.slice(3, 4), "one byte less is not");
  },
};

const firstAlways: ConformanceCase = {
  id: "A2-first-always",
  invariant: "A2",
  title: "the first due entry is claimed however big it is, and alone",
  requires: when(ordersExactly),
  run: async (context) => {
    const ids = await enqueueSizes(context, [5_000, 10, 10]);
    const { claims } = await context.claim({ maxBytes: 100, maxCount: 10 });
    assert.deepEqual(idsOf(claims), ids.slice(0, 1));
    await assertRestUntouched(context, claims);
  },
};

const bigNotSkipped: ConformanceCase = {
  id: "A2-big-is-not-skipped",
  invariant: "A2",
  title: "a big entry is not passed over for small ones behind it",
  requires: when(ordersExactly),
  run: async (context) => {
    const ids = await enqueueSizes(context, [50, 500, 50, 50]);
    const first = await context.claim({ maxBytes: 200, maxCount: 10 });
    assert.deepEqual(idsOf(first.claims), ids.slice(0, 1), "the claim ends before the big entry");
    await assertRestUntouched(context, first.claims);
    const second = await context.claim({ maxBytes: 200, maxCount: 10 });
    assert.deepEqual(idsOf(second.claims), ids.slice(1, 2), "the big entry is next, alone");
  },
};

const storedBytes: ConformanceCase = {
  id: "A2-bytes-are-stored-bytes",
  invariant: "A2",
  title: "payload bytes are those of the stored UTF-8 text or of the bytes, not characters",
  requires: when(ordersExactly),
  run: async (context) => {
    const texts = ["\u{1F4E6}".repeat(10), "ü".repeat(10)];
    const results = await context.enqueue([
      ...texts.map((payload) => ({ type: "order.placed", payload })),
      { type: "order.placed", payload: new Uint8Array(17) },
    ]);
    const expected = [42, 22, 17];
    for (const [index, { entryId }] of results.entries()) {
      assert.equal((await context.read(entryId)).payloadBytes, expected[index]);
    }
    const { claims } = await context.claim({ maxBytes: 42 + 22 });
    assert.deepEqual(
      claims.map((claim) => claim.entry.payloadBytes),
      [42, 22],
    );
  },
};

const bothBounds: ConformanceCase = {
  id: "A2-both-bounds",
  invariant: "A2",
  title: "of both bounds the tighter one decides",
  requires: when(ordersExactly),
  run: async (context) => {
    const ids = await enqueueSizes(context, [100, 100, 100, 100, 100, 100]);
    const byCount = await context.claim({ maxBytes: 1_000, maxCount: 2 });
    assert.deepEqual(idsOf(byCount.claims), ids.slice(0, 2));
    const byBytes = await context.claim({ maxBytes: 299, maxCount: 4 });
    assert.deepEqual(idsOf(byBytes.claims), ids.slice(2, 4));
  },
};

const more: ConformanceCase = {
  id: "A2-more-is-said",
  invariant: "A2",
  title: "a full batch says that there is more, an empty outbox that there is none",
  requires: always,
  run: async (context) => {
    assert.equal((await context.claim()).more, "none", "of an empty outbox");
    await context.enqueue(5);
    assert.equal((await context.claim({ maxCount: 2 })).more, "likely", "two of five claimed");
    const rest = await context.claim({ maxCount: 10 });
    assert.equal(rest.claims.length, 3);
    assert.equal(rest.more, "none", "all claimed");
    assert.equal((await context.claim()).more, "none", "everything is under a live lease");
  },
};

export const bounded: readonly ConformanceCase[] = [
  maxCount,
  neverBeyond,
  countOfOne,
  longestPrefix,
  firstAlways,
  bigNotSkipped,
  storedBytes,
  bothBounds,
  more,
];
