import assert from "node:assert/strict";
import type { OutboxClaim, OutboxEntry } from "@outbox/core";
import { assertDistinct, assertHeldBy, assertNear } from "../assertions/raw-assertions.js";
import type { RawEntry } from "../harness/raw-probes.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, countsExactly, facet, when } from "../suite/requirements.js";
import { providerError, rejection } from "./claim-transitions.js";

/** How far the store's clock may go between two looks at it, in ms. */
const slackMs = 5_000;

/** What a claim says of its entry is what is stored. */
function assertEntryIsStored(entry: OutboxEntry, row: RawEntry): void {
  const said = {
    entryId: entry.entryId,
    status: entry.status,
    claimOwner: entry.claimOwner,
    claimToken: entry.claimToken,
    claimAttemptCount: entry.claimAttemptCount,
    retryCount: entry.retryCount,
    abandonedClaimCount: entry.abandonedClaimCount,
  };
  const { entryId, status, claimOwner, claimToken, claimAttemptCount, retryCount } = row;
  assert.deepEqual(said, {
    entryId,
    status,
    claimOwner,
    claimToken,
    claimAttemptCount,
    retryCount,
    abandonedClaimCount: row.abandonedClaimCount,
  });
}

const stamp: ConformanceCase = {
  id: "A4-stamp",
  invariant: "A4",
  title: "owner, token, claimedAt, claimExpiresAt and the claim count are stored by the claim",
  requires: always,
  run: async (context) => {
    await context.enqueue(5);
    const before = await context.raw.now();
    const { claims } = await context.claim({ workerId: "worker-x" });
    const after = await context.raw.now();
    assert.equal(claims.length, 5);
    for (const claim of claims) {
      const row = await context.read(claim.entry.entryId);
      assertHeldBy(row, claim, "after a claim");
      assert.equal(claim.workerId, "worker-x");
      assert.equal(row.claimAttemptCount, 1);
      assert(row.claimedAt !== null && row.claimExpiresAt !== null, "both instants are stored");
      const slack = context.capabilities.timePrecisionMs;
      assert(
        row.claimedAt >= before - slack && row.claimedAt <= after + slack,
        "claimedAt is the store's now",
      );
      assertNear(row.claimExpiresAt, row.claimedAt + context.leaseMs, slack, "claimExpiresAt");
      assertNear(claim.claimedAt.getTime(), row.claimedAt, slack + 1, "the claim's claimedAt");
      assertNear(
        claim.claimExpiresAt.getTime(),
        row.claimExpiresAt,
        slack + 1,
        "the claim's claimExpiresAt",
      );
      assertEntryIsStored(claim.entry, row);
    }
  },
};

const leaseLength: ConformanceCase = {
  id: "A4-lease-as-asked",
  invariant: "A4",
  title: "the lease is as long as asked for, from a fraction of a second to a day",
  requires: ({ capabilities: { maxLeaseMs } }) =>
    maxLeaseMs !== null && maxLeaseMs < 86_400_000
      ? { notRun: `the store declares maxLeaseMs: ${maxLeaseMs}` }
      : "run",
  run: async (context) => {
    for (const leaseDurationMs of [750, 61_500, 86_400_000]) {
      const entryId = await context.enqueueOne();
      await context.claim({ leaseDurationMs });
      const row = await context.read(entryId);
      assertNear(
        row.claimExpiresAt,
        (row.claimedAt ?? 0) + leaseDurationMs,
        context.capabilities.timePrecisionMs,
        `the end of a lease of ${leaseDurationMs} ms`,
      );
    }
  },
};

const uniqueTokens: ConformanceCase = {
  id: "A4-tokens-are-unique",
  invariant: "A4",
  title: "no two claims share a token, not of one batch, one entry or one worker",
  requires: always,
  run: async (context) => {
    await context.enqueue(6);
    const tokens: string[] = [];
    for (let round = 0; round < 4; round++) {
      const { claims } = await context.claim();
      assert.equal(claims.length, 6);
      tokens.push(...claims.map((claim) => claim.claimToken));
      await context.store.completeClaims(claims.map((claim) => ({ claim, kind: "release" })));
    }
    assertDistinct(tokens, "claim tokens");
  },
};

const nothingFromEmpty: ConformanceCase = {
  id: "A4-no-claim-no-stamp",
  invariant: "A4",
  title: "who gets no claim leaves no stamp",
  requires: always,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const claim = await context.claimOne();
    const before = await context.read(entryId);
    const { claims } = await context.claim({ workerId: "too-late" });
    assert.deepEqual(claims, []);
    assert.deepEqual(await context.read(entryId), before);
    assertHeldBy(before, claim, "after another's vain claim");
  },
};

const notMixed: ConformanceCase = {
  id: "A4-counters-are-not-mixed",
  invariant: "A4",
  title: "claims count claims and failures count failures; a release counts nothing",
  requires: when(countsExactly),
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const counts = async () => {
      const { claimAttemptCount, retryCount, abandonedClaimCount } = await context.read(entryId);
      return { claimAttemptCount, retryCount, abandonedClaimCount };
    };
    for (let round = 1; round <= 3; round++) {
      await context.store.releaseClaim(await context.claimOne());
      assert.deepEqual(
        await counts(),
        { claimAttemptCount: round, retryCount: 0, abandonedClaimCount: 0 },
        "after a release",
      );
    }
    for (let round = 1; round <= 3; round++) {
      const claim = await context.claimOne();
      await context.store.markClaimFailed(claim, providerError, { retryInMs: 0 });
      assert.deepEqual(
        await counts(),
        { claimAttemptCount: 3 + round, retryCount: round, abandonedClaimCount: 0 },
        "after a failure",
      );
    }
    const deferral = await context.claimOne();
    await context.store.completeClaims([{ claim: deferral, kind: "deferred", retryInMs: 0 }]);
    assert.deepEqual(
      await counts(),
      { claimAttemptCount: 7, retryCount: 3, abandonedClaimCount: 0 },
      "after a deferral",
    );
    await context.store.markClaimDelivered(await context.claimOne());
    if (context.capabilities.keepsDelivered === "never") return;
    assert.deepEqual(
      await counts(),
      { claimAttemptCount: 8, retryCount: 3, abandonedClaimCount: 0 },
      "after the delivery",
    );
  },
};

const neverDown: ConformanceCase = {
  id: "A4-claim-count-survives-redrive",
  invariant: "A4",
  title: "the claim count never goes down, not even on redrive; the failure count starts over",
  requires: when(countsExactly, facet("redrive")),
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const endings: ((claim: OutboxClaim) => Promise<unknown>)[] = [
      (claim) => context.store.markClaimFailed(claim, rejection),
      (claim) => context.store.markClaimDeadLettered(claim, rejection),
    ];
    for (const [index, end] of endings.entries()) {
      await end(await context.claimOne());
      assert.equal((await context.read(entryId)).retryCount, 1);
      await context.store.redrive?.({ entryIds: [entryId] });
      const { claimAttemptCount, retryCount } = await context.read(entryId);
      assert.deepEqual(
        { claimAttemptCount, retryCount },
        { claimAttemptCount: index + 1, retryCount: 0 },
      );
    }
    assert.equal((await context.claimOne()).entry.claimAttemptCount, 3);
  },
};

const extendCountsNothing: ConformanceCase = {
  id: "A4-extension-keeps-the-token",
  invariant: "A4",
  title: "an extension keeps token and counts and moves only the expiry, to the lease from now",
  requires: always,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const claim = await context.claimOne();
    const before = await context.read(entryId);
    const leaseDurationMs = Math.min(
      context.leaseMs * 3,
      context.capabilities.maxLeaseMs ?? Number.POSITIVE_INFINITY,
    );
    const sent = await context.raw.now();
    const [extension] = await context.store.extendClaims([claim], { leaseDurationMs });
    assert.equal(extension?.outcome, "applied");
    assert.equal(extension?.claim?.claimToken, claim.claimToken);
    const after = await context.read(entryId);
    assertNear(after.claimExpiresAt, sent + leaseDurationMs, slackMs, "the new expiry");
    assertNear(
      extension?.claim?.claimExpiresAt.getTime() ?? null,
      after.claimExpiresAt ?? 0,
      context.capabilities.timePrecisionMs + 1,
      "the expiry that the extension returned",
    );
    const { claimExpiresAt, dueAt } = after;
    assert.deepEqual(after, { ...before, claimExpiresAt, dueAt }, "nothing else changes");
    assert.equal(dueAt, claimExpiresAt, "a leased entry is due at its lease's end");
  },
};

const dueSince: ConformanceCase = {
  id: "A4-due-since",
  invariant: "A4",
  title: "a claim says since when its entry was due: an abandoned lease since its end",
  requires: always,
  passesLeases: 1,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    for (const when of ["a fresh entry", "an abandoned lease"]) {
      const { dueAt } = await context.read(entryId);
      const claim = await context.claimOne();
      assert(dueAt !== null, "an open entry has a due time");
      assertNear(
        claim.dueAt?.getTime() ?? null,
        dueAt,
        context.capabilities.timePrecisionMs + 1,
        `dueAt of ${when}`,
      );
      await context.expireLeases();
    }
  },
};

export const completeStamp: readonly ConformanceCase[] = [
  stamp,
  leaseLength,
  uniqueTokens,
  nothingFromEmpty,
  notMixed,
  neverDown,
  extendCountsNothing,
  dueSince,
];
