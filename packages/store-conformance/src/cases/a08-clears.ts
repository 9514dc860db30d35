import assert from "node:assert/strict";
import { assertNear, assertOutcome, assertUnclaimed } from "../assertions/raw-assertions.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, countsExactly, declares, facet, when } from "../suite/requirements.js";
import { claimTransitions, providerError, visibleTransitions } from "./claim-transitions.js";

const everyTransition: ConformanceCase = {
  id: "A8-every-transition-clears",
  invariant: "A8",
  title: "every applied transition clears owner, token, claimedAt and claimExpiresAt",
  requires: always,
  run: async (context) => {
    for (const transition of visibleTransitions(claimTransitions, context.capabilities)) {
      const entryId = await context.enqueueOne();
      const claim = await context.claimOne();
      const before = await context.read(entryId);
      const now = await context.raw.now();
      const applied = await transition.apply(context.store, claim);
      assertOutcome(applied, "applied", transition.name);
      const row = await context.read(entryId);
      assertUnclaimed(row, `after ${transition.name}`);
      assert.equal(row.status, transition.leadsTo ?? before.status);
      assert.equal(row.retryCount, transition.counts, `failures after ${transition.name}`);
      assert.equal(row.claimAttemptCount, before.claimAttemptCount);
      if (transition.kind === "release") assert.equal(row.updatedAt, before.updatedAt);
      else assertNear(row.updatedAt, now, 5_000, `updatedAt after ${transition.name}`);
      assert.equal(applied.entry?.claimToken, null, "the returned entry is cleared too");
      assert.equal(applied.entry?.status, row.status);
      await finish(context, entryId);
    }
  },
};

/** Parks what is still claimable, so that the next round's entry is the only one due. */
async function finish(context: CaseContext, entryId: string): Promise<void> {
  const { claims } = await context.claim();
  await context.store.completeClaims(
    claims.map((claim) => ({
      claim,
      kind: "failed",
      error: { ...providerError, isRetryable: false },
    })),
  );
  assertUnclaimed(await context.read(entryId), "after the round");
}

const wholeBatch: ConformanceCase = {
  id: "A8-whole-batch-is-applied",
  invariant: "A8",
  title: "of a batch that reports `applied`, every entry is stored as applied",
  requires: always,
  run: async (context) => {
    const count = 60;
    await context.enqueue(count);
    const { claims } = await context.claim({
      maxCount: Math.min(count, context.capabilities.maxClaimCount ?? count),
    });
    const rest =
      claims.length < count
        ? (await context.claim({ maxCount: count - claims.length })).claims
        : [];
    const all = [...claims, ...rest];
    assert.equal(all.length, count);
    const transitions = await context.store.completeClaims(
      all.map((claim, index) =>
        index % 3 === 0
          ? { claim, kind: "failed", error: providerError, retry: { retryInMs: 600_000 } }
          : index % 3 === 1
            ? { claim, kind: "deferred", retryInMs: 600_000 }
            : { claim, kind: "dead-lettered", error: providerError },
      ),
    );
    const expected = ["retryable-failure", "deferred", "dead-lettered"];
    for (const [index, claim] of all.entries()) {
      assertOutcome(transitions[index], "applied", `completion ${index}`);
      const row = await context.read(claim.entry.entryId);
      assertUnclaimed(row, `after completion ${index}`);
      assert.equal(row.status, expected[index % 3]);
    }
  },
};

const abandonedReset: ConformanceCase = {
  id: "A8-abandoned-counters-reset",
  invariant: "A8",
  title: "every applied transition but a release resets the abandoned counters",
  requires: when(countsExactly, declares("crashIsolation", true)),
  passesLeases: 1,
  run: async (context) => {
    const transitions = visibleTransitions(claimTransitions, context.capabilities);
    await context.enqueue(transitions.length);
    await context.claim();
    await context.expireLeases();
    const { claims } = await context.claim();
    for (const [index, transition] of transitions.entries()) {
      const claim = claims[index];
      assert(claim, "each entry is claimed");
      assert.equal((await context.read(claim.entry.entryId)).abandonedClaimCount, 1);
      await transition.apply(context.store, claim);
      assert.equal(
        (await context.read(claim.entry.entryId)).abandonedClaimCount,
        transition.kind === "release" ? 1 : 0,
        `after ${transition.name}`,
      );
    }
  },
};

const whatIsRemembered: ConformanceCase = {
  id: "A8-what-a-transition-writes",
  invariant: "A8",
  title: "a transition stores its due time, failures, reason and metadata, by the store's clock",
  requires: always,
  run: async (context) => {
    const { store, raw } = context;
    const entryId = await context.enqueueOne({ metadata: { kept: "yes" } });

    const now = await raw.now();
    await store.markClaimFailed(await context.claimOne(), providerError, { retryInMs: 0 });
    const failed = await context.read(entryId);
    assert.deepEqual(
      failed.failures.map(({ code, message }) => ({ code, message })),
      [{ code: providerError.code, message: providerError.message }],
    );
    assertNear(failed.dueAt, now, 5_000, "the due time of a retry at once");
    assert.deepEqual(failed.metadata, { kept: "yes" });

    const claim = await context.claimOne();
    await store.saveClaim(claim, {
      ...claim.entry,
      status: "deferred",
      nextRetryAt: null,
      metadata: { changed: "yes" },
    });
    const deferred = await context.read(entryId);
    assert.equal(deferred.status, "deferred");
    assert.deepEqual(deferred.metadata, { changed: "yes" });
    assert.equal(deferred.dueAt, deferred.updatedAt, "without a retry time it is due at updatedAt");

    const last = await context.claimOne();
    await store.markClaimDeadLettered(last, providerError, "tried enough");
    const dead = await context.read(entryId);
    assert.equal(dead.deadLetterReason, "tried enough");
    assert.equal(dead.failures.length, 2);
    assert.equal(dead.dueAt, null);
  },
};

const selectionClears: ConformanceCase = {
  id: "A8-selection-clears-an-expired-claim",
  invariant: "A8",
  title: "the selection path writes over an expired lease, clears it and makes its token stale",
  requires: when(facet("selection")),
  passesLeases: 1,
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    const lost = await context.claimOne();
    await context.expireLeases();
    const marked = await store.markFailed?.(entryId, providerError, { retryInMs: 600_000 });
    assertOutcome(marked, "applied", "markFailed over an expired lease");
    const row = await context.read(entryId);
    assertUnclaimed(row, "after markFailed");
    assert.equal(row.retryCount, 1);
    assertOutcome(await store.markClaimDelivered(lost), "stale-claim", "the former holder");
  },
};

export const clears: readonly ConformanceCase[] = [
  everyTransition,
  wholeBatch,
  abandonedReset,
  whatIsRemembered,
  selectionClears,
];
