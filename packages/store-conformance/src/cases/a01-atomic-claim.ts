import assert from "node:assert/strict";
import type { ClaimBatch } from "@outbox/core";
import { assertDistinct, assertHeldBy } from "../assertions/raw-assertions.js";
import { assertLeasesNeverOverlap } from "../processes/lease-history.js";
import { runClaimLoops } from "../processes/run-claim-loops.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, harnessCan, when } from "../suite/requirements.js";

/** A claimer that waits for another's lock instead of passing it by is slow, not wrong. */
const patienceMs = 1_000;

/**
 * Claims by A, held inside its claim, and by B meanwhile. If B waits for A rather than passing by,
 * A is let go after a while.
 */
async function claimAgainstHeldClaim(
  context: CaseContext,
  counts: { readonly a: number; readonly b: number },
): Promise<{ readonly a: ClaimBatch; readonly b: ClaimBatch; readonly passedBy: boolean }> {
  const { gate } = context;
  assert(gate, "the harness has a gate");
  const storeB = await context.openStore();
  const held = await gate.hold("held");
  const claimA = context.claim({ workerId: "held", maxCount: counts.a });
  try {
    await held.reached();
    const claimB = context.claim({ workerId: "other", maxCount: counts.b }, storeB);
    let timer: NodeJS.Timeout | undefined;
    const passedBy = await Promise.race([
      claimB.then(() => true),
      new Promise<false>((resolve) => {
        timer = setTimeout(() => resolve(false), patienceMs);
      }),
    ]);
    clearTimeout(timer);
    await held.release();
    return { a: await claimA, b: await claimB, passedBy };
  } finally {
    await held.release();
    await claimA.catch(() => undefined);
  }
}

/** Every returned claim is the one that is stored, and no entry was returned twice. */
async function assertOneHolderEach(
  context: CaseContext,
  batches: readonly ClaimBatch[],
): Promise<void> {
  const claims = batches.flatMap((batch) => batch.claims);
  assertDistinct(
    claims.map((claim) => claim.entry.entryId),
    "entries claimed by different workers",
  );
  for (const claim of claims) {
    assertHeldBy(await context.read(claim.entry.entryId), claim, "after claims that raced");
  }
}

const gated: ConformanceCase = {
  id: "A1-gated-claims-are-disjoint",
  invariant: "A1",
  title: "a claim during another's claim gets other entries, and nobody's stamp is overwritten",
  requires: when(harnessCan("gate")),
  run: async (context) => {
    await context.enqueue(10);
    const { a, b } = await claimAgainstHeldClaim(context, { a: 5, b: 10 });
    assert.equal(a.claims.length, 5, "the held claimer gets what it had picked");
    await assertOneHolderEach(context, [a, b]);
    for (const row of await context.raw.readEntries()) {
      assert(row.claimAttemptCount <= 1, `entry ${row.entryId} was claimed once at most`);
    }
  },
};

const gatedReclaim: ConformanceCase = {
  id: "A1-gated-reclaims-are-disjoint",
  invariant: "A1",
  title: "an expired lease is re-claimed by one of two claimers, not by both",
  requires: when(harnessCan("gate")),
  passesLeases: 1,
  run: async (context) => {
    await context.enqueue(4);
    await context.claim({ workerId: "crashed" });
    await context.expireLeases();
    const { a, b } = await claimAgainstHeldClaim(context, { a: 4, b: 4 });
    assert.equal(a.claims.length, 4, "the held claimer gets what it had picked");
    await assertOneHolderEach(context, [a, b]);
  },
};

const contended: ConformanceCase = {
  id: "A1-contended-is-not-empty",
  invariant: "A1",
  title: "a claim that saw candidates and won none says `contended`, not `none`",
  requires: when(harnessCan("gate")),
  run: async (context) => {
    await context.enqueue(3);
    const { a, b, passedBy } = await claimAgainstHeldClaim(context, { a: 3, b: 3 });
    assert.equal(a.claims.length, 3);
    assert.equal(b.claims.length, 0, "the other claimer wins nothing");
    // Who waited for the winner's commit sees no candidate any more.
    if (passedBy) assert.equal(b.more, "contended");
  },
};

const interleaved: ConformanceCase = {
  id: "A1-interleaved-claims-are-disjoint",
  invariant: "A1",
  title: "claims started together by several stores share out the entries",
  requires: always,
  run: async (context) => {
    await context.enqueue(40);
    const stores = [context.store, await context.openStore(), await context.openStore()];
    const batches = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        context.claim(
          { workerId: `worker-${index}`, maxCount: 5 },
          stores[index % stores.length] ?? context.store,
        ),
      ),
    );
    await assertOneHolderEach(context, batches);
    for (const row of await context.raw.readEntries()) {
      assert(row.claimAttemptCount <= 1, `entry ${row.entryId} was claimed once at most`);
    }
  },
};

const variants: ConformanceCase = {
  id: "A1-session-variants",
  invariant: "A1",
  title: "claims through differently set up sessions share out the entries",
  requires: when(harnessCan("sessionVariants")),
  run: async (context) => {
    await context.enqueue(40);
    const stores = await Promise.all(
      (context.sessionVariants ?? []).map((variant) => variant.openStore()),
    );
    const rounds = await Promise.all(
      stores.flatMap((store, index) => [
        context.claim({ workerId: `first-${index}`, maxCount: 4 }, store),
        context.claim({ workerId: `second-${index}`, maxCount: 4 }, store),
      ]),
    );
    await assertOneHolderEach(context, rounds);
  },
};

const processes: ConformanceCase = {
  id: "A1-processes",
  invariant: "A1",
  title:
    "several processes that claim, release, deliver and let leases expire never hold one entry at once",
  requires: when(harnessCan("processes")),
  timeoutMs: 120_000,
  run: async (context) => {
    const entryCount = 60;
    await context.enqueue(entryCount);
    const claims = await runClaimLoops(context, {
      processes: 3,
      rounds: 40,
      leaseDurationMs: 250,
      maxCount: 7,
      plan: "mixed",
    });
    assert(claims.length >= entryCount, `the processes claimed ${claims.length} times`);
    assertLeasesNeverOverlap(claims, context.capabilities.timePrecisionMs);
    const rows = await context.raw.readEntries();
    if (context.capabilities.keepsDelivered !== "never") {
      assert.equal(rows.length, entryCount, "nothing is lost");
    }
    if (context.capabilities.counters !== "exact") return;
    for (const row of rows) {
      const counts = claims
        .filter((claim) => claim.entryId === row.entryId)
        .map((claim) => claim.claimAttemptCount)
        .sort((left, right) => left - right);
      assert.deepEqual(
        counts,
        Array.from({ length: row.claimAttemptCount }, (_, index) => index + 1),
        `each claim of entry ${row.entryId} has a number of its own`,
      );
    }
  },
};

export const atomicClaim: readonly ConformanceCase[] = [
  gated,
  gatedReclaim,
  contended,
  interleaved,
  variants,
  processes,
];
