import { describe, expect, it } from "vitest";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import type { TransitionWrite } from "../contract/transition.js";
import { applyTransition } from "./apply-transition.js";
import { unclaimedDueTime } from "./due-time.js";
import { testEntry } from "./test-entry.js";
import {
  deadLetteredWrite,
  deferredWrite,
  deliveredWrite,
  failedWrite,
  maxFailures,
  releaseWrite,
  savedWrite,
  withoutTexts,
} from "./transition-writes.js";

const entry = testEntry();
const at = new Date("2026-03-04T05:30:30.000Z");
const later = new Date("2026-03-04T06:00:00.000Z");
const transient = { code: "http.503", message: "busy", isRetryable: true };
const rejection = { code: "http.400", message: "bad", isRetryable: false };

const applied = (write: TransitionWrite, to: OutboxEntry = entry) =>
  applyTransition(to, write, at, "token-1");

const failed = (to: OutboxEntry = entry) => failedWrite(to, rejection, null, at);
const saved = (changes: Partial<OutboxEntry>, read: OutboxEntry = entry) =>
  savedWrite(read, { ...read, ...changes });

const writes: readonly [string, TransitionWrite, Partial<OutboxEntry>][] = [
  [
    "delivered",
    deliveredWrite(entry, { providerMessageId: "m-1" }),
    { status: "delivered", deliveredAt: at, providerMessageId: "m-1", nextRetryAt: null },
  ],
  [
    "a failure with a delay",
    failedWrite(entry, rejection, { inMs: 5_000 }, at),
    { status: "retryable-failure", retryCount: 3, nextRetryAt: new Date(at.getTime() + 5_000) },
  ],
  [
    "a failure with an instant",
    failedWrite(entry, rejection, { at: later }, at),
    { status: "retryable-failure", retryCount: 3, nextRetryAt: later },
  ],
  [
    "a retryable failure without a time",
    failedWrite(entry, transient, null, at),
    { status: "retryable-failure", retryCount: 3, nextRetryAt: null },
  ],
  ["a failure to be parked", failed(), { status: "failed", retryCount: 3, nextRetryAt: null }],
  [
    "a deferral",
    deferredWrite(entry, { inMs: 60_000 }, null, at),
    { status: "deferred", retryCount: 2, nextRetryAt: new Date(at.getTime() + 60_000) },
  ],
  [
    "a deferral for a reason",
    deferredWrite(entry, { inMs: 0 }, transient, at),
    { status: "deferred", retryCount: 2, nextRetryAt: at },
  ],
  [
    "a dead letter",
    deadLetteredWrite(entry, rejection, "gave up", true, at),
    {
      status: "dead-lettered",
      retryCount: 3,
      deadLetterReason: "gave up",
      nextRetryAt: null,
      deliveredAt: null,
    },
  ],
  [
    "a dead letter that was not emitted",
    deadLetteredWrite(entry, rejection, "poison", false, at),
    { status: "dead-lettered", retryCount: 2, deadLetterReason: "poison" },
  ],
  [
    "saved as pending",
    saved({ status: "pending", availableAt: later }),
    { status: "pending", retryCount: 2, availableAt: later, nextRetryAt: null },
  ],
  [
    "saved as deferred",
    saved({ status: "deferred", nextRetryAt: later, metadata: { seen: "yes" } }),
    { status: "deferred", nextRetryAt: later, metadata: { seen: "yes" } },
  ],
];

describe.each(writes)("after the transition %s", (_, write, expected) => {
  const after = applied(write);

  it("the entry is in its new state", () => expect(after).toMatchObject(expected));

  it("the claim is cleared and remembered as resolved", () => {
    expect(after).toMatchObject({
      claimOwner: null,
      claimToken: null,
      claimedAt: null,
      claimExpiresAt: null,
      resolvedClaimToken: "token-1",
      resolvedTransition: write.kind,
    });
  });

  it("it counts as one that did not crash, and as changed now", () => {
    expect(after).toMatchObject({
      abandonedClaimCount: 0,
      soloClaim: false,
      soloAbandonedCount: 0,
      updatedAt: at,
    });
  });

  it("claims are still counted, and what it is about is as it was", () => {
    expect(after.claimAttemptCount).toBe(entry.claimAttemptCount);
    const { entryId, destination, envelope, orderingKey, createdAt, payloadBytes } = entry;
    expect(after).toMatchObject({
      entryId,
      destination,
      envelope,
      orderingKey,
      createdAt,
      payloadBytes,
    });
  });

  it("the entry it was made of is untouched", () => expect(entry).toEqual(testEntry()));
});

describe("a release", () => {
  it("counts nothing, moves nothing and gives back the old due time", () => {
    expect(applied(releaseWrite(entry, null))).toEqual({
      ...entry,
      claimOwner: null,
      claimToken: null,
      claimedAt: null,
      claimExpiresAt: null,
      resolvedClaimToken: "token-1",
      resolvedTransition: "release",
    });
  });

  it.each(["pending", "deferred", "retryable-failure"] as const)(
    "with a delay moves the due time of a %s entry and nothing else",
    (status) => {
      const before = testEntry({ status });
      const after = applied(releaseWrite(before, 5_000), before);
      expect(unclaimedDueTime(after)).toEqual(new Date(at.getTime() + 5_000));
      expect(after).toMatchObject({ status, updatedAt: before.updatedAt, abandonedClaimCount: 2 });
    },
  );

  it("keeps the due time of an entry that was due by its last change", () => {
    const before = testEntry({ nextRetryAt: null });
    const after = applied(releaseWrite(before, null), before);
    expect(unclaimedDueTime(after)).toEqual(before.updatedAt);
  });
});

describe("the selection path", () => {
  it("resolves no token", () => {
    expect(applyTransition(entry, failed(), at, null)).toMatchObject({
      resolvedClaimToken: null,
      resolvedTransition: "failed",
    });
  });
});

describe("remembered failures", () => {
  it("are the last few, oldest first", () => {
    let current = entry;
    for (let failure = 3; failure <= 9; failure++) {
      const error = { ...transient, message: `failure ${failure}` };
      current = applied(failedWrite(current, error, { inMs: 0 }, at), current);
    }
    expect(current.retryCount).toBe(9);
    expect(current.failures).toHaveLength(maxFailures);
    expect(current.failures.map(({ message }) => message)).toEqual(
      [5, 6, 7, 8, 9].map((failure) => `failure ${failure}`),
    );
  });

  it("include what explains a deferral or a dead letter", () => {
    for (const write of [
      deferredWrite(entry, { inMs: 0 }, transient, at),
      deadLetteredWrite(entry, transient, "x", false, at),
    ]) {
      expect(write.failures.at(-1)).toEqual({ at, code: "http.503", message: "busy" });
    }
    expect(deferredWrite(entry, { inMs: 0 }, null, at).failures).toEqual(entry.failures);
  });

  it("hold texts that every store takes", () => {
    const error = {
      code: "\u0000".repeat(300),
      message: "\ud800".repeat(3_000),
      isRetryable: true,
    };
    const written = [
      ...failedWrite(entry, error, null, at).failures,
      ...saved({ failures: [{ at, ...error }] }).failures,
    ];
    for (const { code, message } of written) {
      expect(code.length).toBeLessThanOrEqual(255);
      expect(message.length).toBeLessThanOrEqual(2_000);
      expect(code + message).not.toMatch(/\0|\p{Surrogate}/u);
    }
    expect(deadLetteredWrite(entry, error, "a\u0000", true, at).deadLetterReason).toBe("a␀");
    expect(deliveredWrite(entry, { providerMessageId: "a\u0000" }).providerMessageId).toBe("a␀");
  });
});

describe("a saved entry", () => {
  it("keeps counters, ids and envelope, whatever the caller put there", () => {
    const write = saved({
      status: "deferred",
      retryCount: 0,
      claimAttemptCount: 0,
      entryId: "other",
      providerMessageId: "m-1",
      failures: Array.from({ length: 9 }, (_, index) => ({ at, code: "x", message: `${index}` })),
    });
    expect(write.failures.map(({ message }) => message)).toEqual(["4", "5", "6", "7", "8"]);
    const after = applied(write);
    expect(after).toMatchObject({ retryCount: 2, claimAttemptCount: 4, entryId: "envelope-1" });
    expect(after.providerMessageId).toBeNull();
  });

  it("is due at once if it is pending and asks for no time", () => {
    const read = testEntry({ status: "pending", availableAt: later });
    const after = applied(saved({ status: "pending", availableAt: null }, read), read);
    expect(unclaimedDueTime(after)).toEqual(read.createdAt);
  });

  it("is due by its last change if it waits for a retry and asks for no time", () => {
    const after = applied(saved({ status: "deferred", nextRetryAt: null }));
    expect(unclaimedDueTime(after)).toEqual(at);
  });
});

describe("a write without texts", () => {
  const write = {
    ...deadLetteredWrite(entry, rejection, "reason", true, at),
    metadata: { note: "refused" },
    providerMessageId: "m-1",
  };
  const plain = withoutTexts(write, entry, "no equivalent of ␀ and 😀 in LATIN1");

  it("says what was there in ASCII: the cause may quote what was refused", () => {
    const texts = [
      plain.deadLetterReason,
      ...plain.failures.flatMap(({ code, message }) => [code, message]),
    ];
    for (const text of texts) expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(plain.deadLetterReason).toBe(
      "(text refused by the store: no equivalent of ? and ?? in LATIN1)",
    );
    expect(plain.failures.map((failure) => failure.at)).toEqual(
      write.failures.map((one) => one.at),
    );
  });

  it("is the same transition, with the metadata that the store has already", () => {
    expect(plain).toMatchObject({ kind: "dead-lettered", status: "dead-lettered", retryCount: 3 });
    expect(plain.metadata).toEqual(entry.metadata);
    expect(plain.providerMessageId).toBeNull();
    expect(withoutTexts(deliveredWrite(entry), entry, "x").deadLetterReason).toBeNull();
  });
});
