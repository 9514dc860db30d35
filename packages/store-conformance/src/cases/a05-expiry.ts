import assert from "node:assert/strict";
import { assertHeldBy } from "../assertions/raw-assertions.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, countsExactly, declares, facet, when } from "../suite/requirements.js";

const liveBlocks: ConformanceCase = {
  id: "A5-live-lease-blocks",
  invariant: "A5",
  title: "a live lease blocks every other claimer, also shortly before its end",
  requires: always,
  passesLeases: 1,
  run: async (context) => {
    await context.enqueue(3);
    await context.claim();
    const other = await context.openStore();
    for (const passed of [0, context.leaseMs * 0.5, context.leaseMs * 0.3]) {
      await context.time.advance(passed);
      for (const store of [context.store, other]) {
        const { claims } = await context.claim({ workerId: "worker-b" }, store);
        assert.deepEqual(claims, [], "nothing to claim beside a live lease");
      }
    }
  },
};

const expired: ConformanceCase = {
  id: "A5-expired-lease-blocks-nobody",
  invariant: "A5",
  title: "an expired lease is claimed by the next claimer, and counted as abandoned",
  requires: always,
  passesLeases: 1,
  run: async (context) => {
    await context.enqueue(3);
    const first = await context.claim();
    await context.expireLeases();
    const other = await context.openStore();
    const second = await context.claim({ workerId: "worker-b" }, other);
    assert.equal(second.claims.length, 3, "all of them");
    const lost = first.claims.map((claim) => claim.claimToken);
    for (const claim of second.claims) {
      const row = await context.read(claim.entry.entryId);
      assertHeldBy(row, claim, "after the re-claim");
      assert(!lost.includes(claim.claimToken), "the re-claim has a token of its own");
      if (context.capabilities.counters === "exact") {
        assert.equal(row.claimAttemptCount, 2);
        assert.equal(row.abandonedClaimCount, 1);
      }
    }
  },
};

const sameWorker: ConformanceCase = {
  id: "A5-own-expired-lease-is-abandoned-too",
  invariant: "A5",
  title: "re-claiming one's own expired lease counts as abandoned: a worker that lives renews",
  requires: when(countsExactly, declares("crashIsolation", true)),
  passesLeases: 2,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    for (let round = 0; round < 2; round++) {
      await context.claimOne();
      assert.equal((await context.read(entryId)).abandonedClaimCount, round);
      await context.expireLeases();
    }
  },
};

const extended: ConformanceCase = {
  id: "A5-extended-lease-blocks-on",
  invariant: "A5",
  title: "an extended lease blocks beyond its first end, and then ends",
  requires: always,
  passesLeases: 2,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const claim = await context.claimOne();
    await context.time.advance(context.leaseMs * 0.6);
    await context.store.extendClaims([claim], { leaseDurationMs: context.leaseMs });
    await context.time.advance(context.leaseMs * 0.6);
    assert.deepEqual((await context.claim({ workerId: "worker-b" })).claims, []);
    await context.time.advance(context.leaseMs * 0.4 + context.marginMs);
    const reclaim = await context.claimOne({ workerId: "worker-b" });
    assertHeldBy(await context.read(entryId), reclaim, "after the extended lease ended");
  },
};

const longAgo: ConformanceCase = {
  id: "A5-expired-long-ago",
  invariant: "A5",
  title: "a lease that expired long ago is claimed among fresh entries",
  requires: always,
  passesLeases: 4,
  run: async (context) => {
    await context.enqueue(2);
    await context.claim();
    await context.time.advance(context.leaseMs * 3.5);
    await context.enqueue(2);
    assert.equal((await context.claim()).claims.length, 4);
  },
};

const notFoundEither: ConformanceCase = {
  id: "A5-selection-sees-leases-as-claims-do",
  invariant: "A5",
  title: "the selection path leaves out a live lease, answers `leased`, and finds an expired one",
  requires: when(facet("selection")),
  passesLeases: 1,
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    await context.claimOne();
    const before = await context.read(entryId);
    assert.deepEqual(await store.findPending?.(), []);
    const entry = await store.findByOutboxEntryId?.(entryId);
    assert(entry, "found by id, leased or not");
    const error = { code: "test", message: "test", isRetryable: true };
    const refused = [
      await store.markDelivered?.(entryId),
      await store.markFailed?.(entryId, error),
      await store.markDeadLettered?.(entryId, error),
      await store.save?.(entry, { ...entry, status: "deferred" }),
    ];
    assert.deepEqual(
      refused.map((transition) => transition?.outcome),
      ["leased", "leased", "leased", "leased"],
    );
    assert.deepEqual(await context.read(entryId), before, "a live lease is left alone");
    await context.expireLeases();
    assert.equal((await store.findPending?.())?.length, 1, "an expired lease blocks nobody");
  },
};

export const expiry: readonly ConformanceCase[] = [
  liveBlocks,
  expired,
  sameWorker,
  extended,
  longAgo,
  notFoundEither,
];
