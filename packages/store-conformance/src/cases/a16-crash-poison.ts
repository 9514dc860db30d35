import assert from "node:assert/strict";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { countsExactly, declares, eitherWay, facet, when } from "../suite/requirements.js";
import { providerError, rejection } from "./claim-transitions.js";

const isolates = declares("crashIsolation", true);

const filters: ConformanceCase = {
  id: "A16-suspect-filter",
  invariant: "A16",
  title: "suspects can be left out and claimed apart; where they cannot, asking is refused",
  requires: eitherWay((capabilities) => capabilities.crashIsolation),
  passesLeases: 1,
  run: async (context) => {
    await context.enqueue(4);
    assert.deepEqual((await context.claim({ suspects: "only" })).claims, [], "no suspect yet");
    await context.claim({ workerId: "crashed" });
    await context.expireLeases();
    const without = await context.claim({ suspects: "exclude" });
    assert.deepEqual(without.claims, []);
    assert.equal(without.suspectsDue, true);
    assert((await context.claim({ suspects: "only" })).claims.length > 0);
  },
  runNegative: async (context) => {
    await context.enqueueOne();
    for (const suspects of ["exclude", "only"] as const) {
      await assert.rejects(context.claim({ suspects }), { code: "outbox.unsupported" });
    }
    assert.equal((await context.claim({ suspects: "include" })).claims.length, 1);
  },
};

const groups: ConformanceCase = {
  id: "A16-groups-then-one-by-one",
  invariant: "A16",
  title:
    "first-time suspects come in groups of at most the root of the count, later ones alone and marked",
  requires: when(isolates, countsExactly),
  passesLeases: 3,
  run: async (context) => {
    await context.enqueue(9);
    await context.claim({ workerId: "crashed" });
    await context.expireLeases();
    const sizes: number[] = [];
    // Nine groups at most: a broken store may hand out the same ones for ever.
    while (sizes.length < 10) {
      const { claims } = await context.claim({ suspects: "only", maxCount: 10 });
      if (claims.length === 0) break;
      sizes.push(claims.length);
      for (const { entry } of claims) {
        const row = await context.read(entry.entryId);
        assert.equal(row.soloClaim, false, "a member of a group is not marked");
        assert.equal(row.abandonedClaimCount, 1);
      }
    }
    assert(
      sizes.every((size) => size <= 4),
      `groups of ${sizes.join(", ")} are at most ceil(sqrt(10)) = 4`,
    );
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      9,
    );
    await context.expireLeases();
    for (let round = 1; round <= 3; round++) {
      const { claims } = await context.claim({ suspects: "only", maxCount: 10 });
      assert.equal(claims.length, 1, "one by one once they were suspected before");
      const row = await context.read(claims[0]?.entry.entryId ?? "");
      assert.equal(row.soloClaim, true, "and marked");
      assert.equal(row.abandonedClaimCount, 2);
      assert.equal(row.soloAbandonedCount, 0);
    }
  },
};

const soloCounts: ConformanceCase = {
  id: "A16-solo-crashes-are-counted",
  invariant: "A16",
  title: "an expired lease that was taken alone counts as a solo crash; one beside others does not",
  requires: when(isolates, countsExactly),
  passesLeases: 4,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const counts = async () => {
      const { abandonedClaimCount, soloClaim, soloAbandonedCount } = await context.read(entryId);
      return { abandonedClaimCount, soloClaim, soloAbandonedCount };
    };
    await context.claim();
    assert.deepEqual(await counts(), {
      abandonedClaimCount: 0,
      soloClaim: false,
      soloAbandonedCount: 0,
    });
    const expected = [
      { abandonedClaimCount: 1, soloClaim: false, soloAbandonedCount: 0 },
      { abandonedClaimCount: 2, soloClaim: true, soloAbandonedCount: 0 },
      { abandonedClaimCount: 3, soloClaim: true, soloAbandonedCount: 1 },
      { abandonedClaimCount: 4, soloClaim: true, soloAbandonedCount: 2 },
    ];
    for (const wanted of expected) {
      await context.expireLeases();
      await context.claimOne({ suspects: "only" });
      assert.deepEqual(await counts(), wanted);
    }
  },
};

const resets: ConformanceCase = {
  id: "A16-counters-reset",
  invariant: "A16",
  title: "an applied transition or a redrive clears the suspicion; a release does not",
  requires: when(isolates, countsExactly, facet("redrive")),
  passesLeases: 4,
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    const makeSuspect = async () => {
      await context.claim();
      await context.expireLeases();
      return context.claimOne({ suspects: "only" });
    };
    const suspect = await makeSuspect();
    await store.releaseClaim(suspect);
    const released = await context.read(entryId);
    assert.equal(released.abandonedClaimCount, 1, "a release clears nothing");
    assert.deepEqual((await context.claim({ suspects: "exclude" })).claims, []);
    const again = await context.claimOne({ suspects: "only" });
    assert.equal(again.entry.abandonedClaimCount, 1, "a released claim was not abandoned");
    await store.markClaimFailed(again, providerError, { retryInMs: 0 });
    const failed = await context.read(entryId);
    assert.deepEqual(
      [failed.abandonedClaimCount, failed.soloClaim, failed.soloAbandonedCount],
      [0, false, 0],
      "a failure that was reported clears it",
    );
    const fresh = await context.claimOne({ suspects: "exclude" });
    await store.releaseClaim(fresh);

    const third = await makeSuspect();
    await store.markClaimFailed(third, rejection);
    await store.redrive?.({ entryIds: [entryId] });
    const redriven = await context.claimOne({ suspects: "exclude" });
    assert.equal(redriven.entry.abandonedClaimCount, 0);
    assert.equal(redriven.entry.soloAbandonedCount, 0);
  },
};

const dueForThisClaim: ConformanceCase = {
  id: "A16-suspects-due-is-for-this-claim",
  invariant: "A16",
  title: "suspects of types that a worker does not claim are not due for it",
  requires: when(isolates, declares("typeFilter", "in-claim")),
  passesLeases: 1,
  run: async (context) => {
    await context.enqueue([{ type: "mail.sent" }]);
    await context.claim({ workerId: "crashed" });
    await context.expireLeases();
    const dueFor = async (types: readonly string[]) =>
      (await context.claim({ suspects: "exclude", types })).suspectsDue;
    assert.equal(await dueFor(["order.*"]), false, "else it would ask for them again and again");
    assert.equal(await dueFor(["mail.*"]), true);
  },
};

const replayedAlone: ConformanceCase = {
  id: "A16-replayed-suspects-stay-alone",
  invariant: "A16",
  title: "a claim of suspects that is found again is not filled up with others",
  requires: when(isolates, declares("claimReplay", true)),
  passesLeases: 2,
  run: async (context) => {
    await context.enqueue(9);
    await context.claim({ workerId: "crashed" });
    await context.expireLeases();
    const tokensOf = async (claimId: string, maxCount: number) =>
      (await context.claim({ suspects: "only", claimId, maxCount })).claims
        .map(({ claimToken }) => claimToken)
        .sort();
    const group = await tokensOf("group", 4);
    assert.equal(group.length, 2, "a group of suspects");
    assert.deepEqual(await tokensOf("group", 4), group, "the same group and nobody else");
    // All that are left become suspects of the second kind.
    await context.claim({ workerId: "crashed" });
    await context.expireLeases();
    const alone = await tokensOf("alone", 4);
    assert.equal(alone.length, 1, "a suspect alone");
    assert.deepEqual(await tokensOf("alone", 4), alone, "still alone");
  },
};

export const crashPoison: readonly ConformanceCase[] = [
  filters,
  groups,
  soloCounts,
  resets,
  dueForThisClaim,
  replayedAlone,
];
