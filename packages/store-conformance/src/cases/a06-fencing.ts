import assert from "node:assert/strict";
import type { OutboxClaim } from "@outbox/core";
import { assertHeldBy, assertOutcome, assertUnchanged } from "../assertions/raw-assertions.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, declares, enforcesFences, when } from "../suite/requirements.js";
import { claimTransitions, providerError, visibleTransitions } from "./claim-transitions.js";

/** Tries every way to end the claim, and to renew it; all must be refused and change nothing. */
async function assertPowerless(
  context: CaseContext,
  claim: OutboxClaim,
  expected: "stale-claim" | "terminal",
  who: string,
): Promise<void> {
  const before = await context.read(claim.entry.entryId);
  for (const transition of claimTransitions) {
    const what = `${transition.name} by ${who}`;
    assertOutcome(await transition.apply(context.store, claim), expected, what);
    assertUnchanged(before, await context.read(claim.entry.entryId), what);
  }
  const [extension] = await context.store.extendClaims([claim], {
    leaseDurationMs: context.leaseMs,
  });
  assertOutcome(extension, expected, `an extension by ${who}`);
  assert.equal(extension?.claim, null, "a refused extension returns no claim");
  assertUnchanged(before, await context.read(claim.entry.entryId), `an extension by ${who}`);
}

const stale: ConformanceCase = {
  id: "A6-stale-claim-is-powerless",
  invariant: "A6",
  title: "who lost the lease to another changes nothing: no transition, no extension, no release",
  requires: when(enforcesFences),
  passesLeases: 1,
  run: async (context) => {
    await context.enqueueOne();
    const lost = await context.claimOne();
    await context.expireLeases();
    const current = await context.claimOne({ workerId: "worker-b" });
    await assertPowerless(context, lost, "stale-claim", "the former holder");
    const delivered = await context.store.markClaimDelivered(current);
    assertOutcome(delivered, "applied", "a transition by the present holder");
  },
};

const sameOwner: ConformanceCase = {
  id: "A6-owner-is-no-fence",
  invariant: "A6",
  title: "a worker of the same name (or the same worker later) does not hold the earlier lease",
  requires: when(enforcesFences),
  passesLeases: 1,
  run: async (context) => {
    await context.enqueueOne();
    const lost = await context.claimOne({ workerId: "same-name" });
    await context.expireLeases();
    const current = await context.claimOne({ workerId: "same-name" }, await context.openStore());
    await assertPowerless(context, lost, "stale-claim", "an earlier lease of the same owner");
    assertHeldBy(await context.read(current.entry.entryId), current, "afterwards");
  },
};

const afterRelease: ConformanceCase = {
  id: "A6-released-claim-is-over",
  invariant: "A6",
  title: "after its release a claim can do nothing more, though nobody else holds the entry",
  requires: when(enforcesFences),
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const claim = await context.claimOne();
    await context.store.releaseClaim(claim);
    const before = await context.read(entryId);
    for (const transition of claimTransitions) {
      if (transition.kind === "release") continue; // repeats what was applied: A9
      const what = `${transition.name} after the release`;
      assertOutcome(await transition.apply(context.store, claim), "stale-claim", what);
      assertUnchanged(before, await context.read(entryId), what);
    }
    const [extension] = await context.store.extendClaims([claim], {
      leaseDurationMs: context.leaseMs,
    });
    assertOutcome(extension, "stale-claim", "an extension after the release");
    assertUnchanged(before, await context.read(entryId), "an extension after the release");
  },
};

const foreignToken: ConformanceCase = {
  id: "A6-tokens-fence-per-entry",
  invariant: "A6",
  title: "a token fences the one entry it was given for, even within a batch",
  requires: when(enforcesFences),
  run: async (context) => {
    await context.enqueue(2);
    const [first, second] = (await context.claim()).claims;
    assert(first && second, "there are two");
    const crossed: OutboxClaim = { ...first, claimToken: second.claimToken };
    await assertPowerless(context, crossed, "stale-claim", "another entry's token");
    assertHeldBy(await context.read(second.entry.entryId), second, "the token's own entry");
  },
};

const lateApplied: ConformanceCase = {
  id: "A6-expired-not-reclaimed-applies",
  invariant: "A6",
  title: "a transition after the lease's end applies while nobody re-claimed",
  requires: when(enforcesFences, declares("lateCompletion", "applied")),
  passesLeases: 1,
  run: async (context) => {
    const transitions = visibleTransitions(claimTransitions, context.capabilities);
    await context.enqueue(transitions.length);
    const { claims } = await context.claim();
    await context.expireLeases();
    for (const [index, transition] of transitions.entries()) {
      const claim = claims[index];
      assert(claim, "each entry is claimed");
      const what = `a late ${transition.name}`;
      assertOutcome(await transition.apply(context.store, claim), "applied", what);
      const row = await context.read(claim.entry.entryId);
      assert.equal(row.status, transition.leadsTo ?? "pending", what);
    }
  },
};

const lateExtension: ConformanceCase = {
  id: "A6-expired-not-reclaimed-extends",
  invariant: "A6",
  title: "an extension after the lease's end revives it while nobody re-claimed",
  requires: when(enforcesFences, declares("lateCompletion", "applied")),
  passesLeases: 1,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const claim = await context.claimOne();
    await context.expireLeases();
    const [extension] = await context.store.extendClaims([claim], {
      leaseDurationMs: context.leaseMs,
    });
    assertOutcome(extension, "applied", "a late extension");
    assert.deepEqual((await context.claim({ workerId: "worker-b" })).claims, []);
    assertHeldBy(await context.read(entryId), claim, "after a late extension");
  },
};

const missing: ConformanceCase = {
  id: "A6-missing",
  invariant: "A6",
  title: "a claim on an entry that is not there any more answers `missing`, and creates nothing",
  requires: when(enforcesFences),
  run: async (context) => {
    await context.enqueueOne();
    const claim = await context.claimOne();
    const elsewhere = await context.createOutbox();
    for (const transition of claimTransitions) {
      assertOutcome(await transition.apply(elsewhere.store, claim), "missing", transition.name);
    }
    const [extension] = await elsewhere.store.extendClaims([claim], {
      leaseDurationMs: context.leaseMs,
    });
    assertOutcome(extension, "missing", "an extension");
    assert.deepEqual(await elsewhere.raw.readEntries(), []);
  },
};

const mixedBatch: ConformanceCase = {
  id: "A6-mixed-batch",
  invariant: "A6",
  title: "in one batch the good apply and the stale do not, with outcomes in input order",
  requires: when(enforcesFences),
  passesLeases: 1,
  run: async (context) => {
    const { store } = context;
    await context.enqueue(6);
    const lost = (await context.claim({ maxCount: 3 })).claims;
    await context.expireLeases();
    const regained = (await context.claim({ workerId: "worker-b", maxCount: 6 })).claims;
    assert.equal(regained.length, 6);
    const mine = regained.filter(
      ({ entry }) => !lost.some((claim) => claim.entry.entryId === entry.entryId),
    );
    const [stale1, stale2, stale3] = lost;
    const [mine1, mine2, mine3] = mine;
    assert(
      stale1 && stale2 && stale3 && mine1 && mine2 && mine3,
      "three claims are lost and three are fresh",
    );
    const staleBefore = await Promise.all(lost.map((claim) => context.read(claim.entry.entryId)));
    const batch = await store.completeClaims([
      { claim: stale1, kind: "delivered" },
      { claim: mine3, kind: "failed", error: providerError, retry: { retryInMs: 60_000 } },
      { claim: stale2, kind: "release" },
      { claim: mine1, kind: "dead-lettered", error: providerError },
      { claim: stale3, kind: "failed", error: providerError },
      { claim: mine2, kind: "deferred", retryInMs: 60_000 },
    ]);
    assert.deepEqual(
      batch.map((transition) => transition.outcome),
      ["stale-claim", "applied", "stale-claim", "applied", "stale-claim", "applied"],
    );
    assert.deepEqual(
      await Promise.all(lost.map((claim) => context.read(claim.entry.entryId))),
      staleBefore,
      "the entries of stale claims are unchanged",
    );
    const statusOf = async (claim: OutboxClaim) => (await context.read(claim.entry.entryId)).status;
    assert.deepEqual(
      [await statusOf(mine3), await statusOf(mine1), await statusOf(mine2)],
      ["retryable-failure", "dead-lettered", "deferred"],
    );
  },
};

const mixedExtension: ConformanceCase = {
  id: "A6-mixed-extension",
  invariant: "A6",
  title: "extensions of a batch answer per claim, in input order",
  requires: when(enforcesFences),
  passesLeases: 1,
  run: async (context) => {
    await context.enqueue(3);
    const lost = (await context.claim()).claims;
    await context.expireLeases();
    const regained = await context.claim({ workerId: "worker-b" });
    const [a, b, c] = regained.claims;
    assert(a && b && c, "three entries are claimed");
    const lostB = lost.find((claim) => claim.entry.entryId === b.entry.entryId);
    assert(lostB, "the second entry was held before");
    await context.store.markClaimDeadLettered(a, providerError);
    const extensions = await context.store.extendClaims([c, lostB, a, b], {
      leaseDurationMs: context.leaseMs,
    });
    assert.deepEqual(
      extensions.map(({ outcome, claim }) => [outcome, claim?.claimToken ?? null]),
      [
        ["applied", c.claimToken],
        ["stale-claim", null],
        ["terminal", null],
        ["applied", b.claimToken],
      ],
    );
  },
};

const emptyBatch: ConformanceCase = {
  id: "A6-empty-batches",
  invariant: "A6",
  title: "an empty batch of transitions or extensions is nothing, not an error",
  requires: always,
  run: async (context) => {
    assert.deepEqual(await context.store.completeClaims([]), []);
    assert.deepEqual(
      await context.store.extendClaims([], { leaseDurationMs: context.leaseMs }),
      [],
    );
  },
};

export const fencing: readonly ConformanceCase[] = [
  stale,
  sameOwner,
  afterRelease,
  foreignToken,
  lateApplied,
  lateExtension,
  missing,
  mixedBatch,
  mixedExtension,
  emptyBatch,
];
