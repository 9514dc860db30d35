import assert from "node:assert/strict";
import type { OutboxClaim } from "@outbox/core";
import { assertHeldBy, assertOutcome, assertUnchanged } from "../assertions/raw-assertions.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { countsExactly, declares, eitherWay, enforcesFences, when } from "../suite/requirements.js";
import { claimTransitions, providerError, visibleTransitions } from "./claim-transitions.js";

const tokensOf = (claims: readonly OutboxClaim[]): string[] =>
  claims.map((claim) => claim.claimToken).sort();

const repeated: ConformanceCase = {
  id: "A9-repeated-transition",
  invariant: "A9",
  title: "repeating a transition whose reply was lost is `applied` again and changes nothing twice",
  requires: when(enforcesFences),
  run: async (context) => {
    for (const transition of visibleTransitions(claimTransitions, context.capabilities)) {
      const fresh = await context.createOutbox();
      const entryId = await fresh.enqueueOne();
      const claim = await fresh.claimOne();
      await transition.apply(fresh.store, claim);
      const before = await fresh.read(entryId);
      for (let repetition = 1; repetition <= 2; repetition++) {
        const what = `${transition.name}, repeated`;
        const again = await transition.apply(fresh.store, claim);
        assertOutcome(again, "applied", what);
        assert.equal(again.replayed, true, `${what}, says so`);
        assertUnchanged(before, await fresh.read(entryId), what);
      }
    }
  },
};

const afterReclaim: ConformanceCase = {
  id: "A9-repeated-until-the-next-transition",
  invariant: "A9",
  title:
    "a repetition is recognised while another already holds the entry, and no longer after its transition",
  requires: when(enforcesFences),
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    const first = await context.claimOne();
    const fail = (claim: OutboxClaim) =>
      store.markClaimFailed(claim, providerError, { retryInMs: 0 });
    await fail(first);
    const second = await context.claimOne({ workerId: "worker-b" });
    const before = await context.read(entryId);
    const replay = await fail(first);
    assertOutcome(replay, "applied", "the repetition beside a new lease");
    assert.equal(replay.replayed, true);
    assertUnchanged(before, await context.read(entryId), "the repetition beside a new lease");
    assertHeldBy(await context.read(entryId), second, "afterwards");

    await store.releaseClaim(second);
    const released = await context.read(entryId);
    assertOutcome(await fail(first), "stale-claim", "the repetition after another's transition");
    assertUnchanged(released, await context.read(entryId), "the late repetition");
  },
};

const otherKind: ConformanceCase = {
  id: "A9-other-kind-is-no-repetition",
  invariant: "A9",
  title: "another transition by the same claim is not taken for a repetition",
  requires: when(enforcesFences),
  run: async (context) => {
    for (const first of visibleTransitions(claimTransitions, context.capabilities)) {
      const fresh = await context.createOutbox();
      const entryId = await fresh.enqueueOne();
      const claim = await fresh.claimOne();
      await first.apply(fresh.store, claim);
      const before = await fresh.read(entryId);
      const expected =
        first.kind === "delivered" || first.kind === "dead-lettered" ? "terminal" : "stale-claim";
      for (const second of claimTransitions) {
        if (second.kind === first.kind) continue;
        const what = `${second.name} after ${first.name}`;
        assertOutcome(await second.apply(fresh.store, claim), expected, what);
        assertUnchanged(before, await fresh.read(entryId), what);
      }
    }
  },
};

const repeatedBatch: ConformanceCase = {
  id: "A9-repeated-batch",
  invariant: "A9",
  title: "a batch whose reply was lost is repeated as a whole, with some of it new",
  requires: when(enforcesFences),
  run: async (context) => {
    await context.enqueue(4);
    const { claims } = await context.claim();
    const completions = claims.map((claim) => ({
      claim,
      kind: "failed" as const,
      error: providerError,
      retry: { retryInMs: 600_000 },
    }));
    await context.store.completeClaims(completions.slice(0, 2));
    const before = await context.raw.readEntries();
    const repetition = await context.store.completeClaims(completions);
    assert.deepEqual(
      repetition.map(({ outcome, replayed }) => [outcome, replayed === true]),
      [
        ["applied", true],
        ["applied", true],
        ["applied", false],
        ["applied", false],
      ],
    );
    const after = await context.raw.readEntries();
    assert.deepEqual(
      after.map((row) => row.retryCount),
      [1, 1, 1, 1],
      "each failure counts once",
    );
    assert.deepEqual(after.slice(0, 2), before.slice(0, 2));
  },
};

const resolved: ConformanceCase = {
  id: "A9-resolution-is-stored",
  invariant: "A9",
  title: "token and kind of the last applied transition are stored with the entry",
  requires: when(enforcesFences),
  run: async (context) => {
    for (const transition of visibleTransitions(claimTransitions, context.capabilities)) {
      const fresh = await context.createOutbox();
      const entryId = await fresh.enqueueOne();
      const claim = await fresh.claimOne();
      await transition.apply(fresh.store, claim);
      const { resolvedClaimToken, resolvedTransition } = await fresh.read(entryId);
      assert.deepEqual(
        { resolvedClaimToken, resolvedTransition },
        { resolvedClaimToken: claim.claimToken, resolvedTransition: transition.kind },
      );
    }
  },
};

const claimReplay: ConformanceCase = {
  id: "A9-claim-replay",
  invariant: "A9",
  title: "a claim whose reply was lost is found again by its claimId, counted once",
  requires: eitherWay((capabilities) => capabilities.claimReplay),
  run: async (context) => {
    await context.enqueue(3);
    const lost = await context.claim({ claimId: "claim-1" });
    assert.equal(lost.claims.length, 3);
    const before = await context.raw.readEntries();
    const found = await context.claim({ claimId: "claim-1" });
    assert.deepEqual(tokensOf(found.claims), tokensOf(lost.claims), "the same leases");
    assert.deepEqual(await context.raw.readEntries(), before, "nothing is counted or renewed");
    for (const claim of found.claims) {
      const applied = await context.store.releaseClaim(claim);
      assertOutcome(applied, "applied", "a transition of a claim found again");
    }
  },
  runNegative: async (context) => {
    await context.enqueueOne();
    await assert.rejects(context.claim({ claimId: "claim-1" }), { code: "outbox.unsupported" });
    assert.deepEqual(
      (await context.raw.readEntries()).map((row) => row.claimToken),
      [null],
      "nothing was claimed",
    );
  },
};

const replayAndFresh: ConformanceCase = {
  id: "A9-claim-replay-then-fresh",
  invariant: "A9",
  title: "a repeated claim returns its live leases and fills up with fresh ones, within its bound",
  requires: when(declares("claimReplay", true), countsExactly),
  run: async (context) => {
    await context.enqueue(2);
    const lost = await context.claim({ claimId: "claim-1", maxCount: 5 });
    await context.enqueue(6);
    const found = await context.claim({ claimId: "claim-1", maxCount: 5 });
    assert.equal(found.claims.length, 5, "two found again and three fresh ones");
    const again = new Set(tokensOf(lost.claims));
    assert.equal(found.claims.filter((claim) => again.has(claim.claimToken)).length, 2);
    const rows = await context.raw.readEntries();
    assert.deepEqual(
      rows.map((row) => row.claimAttemptCount),
      [1, 1, 1, 1, 1, 0, 0, 0],
    );
    const third = await context.claim({ claimId: "claim-1", maxCount: 5 });
    assert.deepEqual(tokensOf(third.claims), tokensOf(found.claims), "the fresh ones carry it too");
  },
};

const smallerReplay: ConformanceCase = {
  id: "A9-claim-replay-never-over-claims",
  invariant: "A9",
  title: "a repeated claim that asks for less than it holds claims nothing more",
  requires: when(declares("claimReplay", true), countsExactly),
  run: async (context) => {
    await context.enqueue(10);
    await context.claim({ claimId: "claim-1", maxCount: 4 });
    const before = await context.raw.readEntries();
    await context.claim({ claimId: "claim-1", maxCount: 2 });
    assert.deepEqual(await context.raw.readEntries(), before);
  },
};

const otherClaimId: ConformanceCase = {
  id: "A9-claim-replay-is-by-id",
  invariant: "A9",
  title: "another claimId, or none, finds no lease again; nor does the same id after a transition",
  requires: when(declares("claimReplay", true)),
  run: async (context) => {
    await context.enqueue(2);
    const { claims } = await context.claim({ claimId: "claim-1" });
    assert.deepEqual((await context.claim({ claimId: "claim-2" })).claims, []);
    assert.deepEqual((await context.claim()).claims, []);
    const [first, second] = claims;
    assert(first && second, "there are two");
    await context.store.markClaimDeadLettered(first, providerError);
    const found = await context.claim({ claimId: "claim-1" });
    assert.deepEqual(tokensOf(found.claims), [second.claimToken], "the one that is still leased");
  },
};

const expiredReplay: ConformanceCase = {
  id: "A9-claim-replay-needs-a-live-lease",
  invariant: "A9",
  title: "an expired lease is not found again but re-claimed, with a new token, and counted",
  requires: when(declares("claimReplay", true), countsExactly),
  passesLeases: 1,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const lost = await context.claimOne({ claimId: "claim-1" });
    await context.expireLeases();
    const again = await context.claimOne({ claimId: "claim-1" });
    assert.notEqual(again.claimToken, lost.claimToken);
    const row = await context.read(entryId);
    assert.equal(row.claimAttemptCount, 2);
    assert.equal(row.abandonedClaimCount, 1);
    assertOutcome(await context.store.releaseClaim(lost), "stale-claim", "the expired lease");
  },
};

export const idempotentFinalization: readonly ConformanceCase[] = [
  repeated,
  afterReclaim,
  otherKind,
  repeatedBatch,
  resolved,
  claimReplay,
  replayAndFresh,
  smallerReplay,
  otherClaimId,
  expiredReplay,
];
