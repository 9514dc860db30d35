import assert from "node:assert/strict";
import { assertOutcome, assertUnclaimed } from "../assertions/raw-assertions.js";
import { startClaimLoop } from "../processes/start-claim-loop.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, countsExactly, harnessCan, when } from "../suite/requirements.js";
import { claimTransitions } from "./claim-transitions.js";

/** More claims than any case here needs; a broken store may hand out the same entry for ever. */
const mostRounds = 1_000;

/** Delivers whatever is claimable; how many that was. */
async function deliverTheRest(context: CaseContext): Promise<number> {
  let delivered = 0;
  for (let round = 0; round < mostRounds; round++) {
    const { claims } = await context.claim({ workerId: "survivor" });
    if (claims.length === 0) return delivered;
    const transitions = await context.store.completeClaims(
      claims.map((claim) => ({ claim, kind: "delivered" })),
    );
    delivered += transitions.filter(({ outcome }) => outcome === "applied").length;
  }
  return assert.fail(`after ${mostRounds} claims there is still something to deliver`);
}

/** How often a lease that was given to a killed process may turn up late. */
const mostLateLeases = 3;

async function openEntries(context: CaseContext): Promise<number> {
  const rows = await context.raw.readEntries();
  return rows.filter((row) => row.status !== "delivered").length;
}

const closedStore: ConformanceCase = {
  id: "A11-closed-with-leases",
  invariant: "A11",
  title: "what a store held when it was closed is claimable after its leases",
  requires: always,
  passesLeases: 1,
  run: async (context) => {
    await context.enqueue(10);
    const leaving = await context.openStore();
    const { claims } = await context.claim({ workerId: "leaving", maxCount: 6 }, leaving);
    const [first] = claims;
    assert(first && claims.length === 6, "six entries are claimed");
    await leaving.markClaimDelivered(first);
    await leaving.close();
    await assert.rejects(leaving.claim({ workerId: "leaving" }), { code: "outbox.closed" });
    assert.equal((await context.claim({ workerId: "survivor" })).claims.length, 4);
    await context.expireLeases();
    assert.equal(await deliverTheRest(context), 9, "all but the delivered one");
  },
};

const everyPath: ConformanceCase = {
  id: "A11-every-path-keeps-the-entry",
  invariant: "A11",
  title: "after any transition the entry is delivered, dead-lettered, parked or claimable when due",
  requires: always,
  run: async (context) => {
    for (const transition of claimTransitions) {
      const fresh = await context.createOutbox();
      const entryId = await fresh.enqueueOne();
      await transition.apply(fresh.store, await fresh.claimOne());
      const row = await fresh.raw.readEntry(entryId);
      if (transition.kind === "delivered") continue;
      assert(row, `the entry is there after ${transition.name}`);
      assert.equal(row.status, transition.leadsTo ?? "pending", `after ${transition.name}`);
      const isOver = row.status === "dead-lettered" || row.status === "failed";
      assert.equal(row.dueAt === null, isOver, `it has a due time after ${transition.name}`);
    }
  },
};

const killedHolder: ConformanceCase = {
  id: "A11-killed-holder",
  invariant: "A11",
  title:
    "a killed process leaves its leases standing until they end, and then everything is claimable",
  requires: when(harnessCan("processes")),
  passesLeases: 1,
  timeoutMs: 60_000,
  run: async (context) => {
    await context.enqueue(8);
    const holder = startClaimLoop(context, {
      workerId: "killed",
      leaseDurationMs: context.leaseMs,
      maxCount: 5,
      rounds: 1,
      seed: 1,
      plan: "hold",
    });
    try {
      await holder.claimed();
    } finally {
      await holder.kill();
    }
    assert.equal(holder.leases().length, 5);
    const survivor = await context.claim({ workerId: "survivor" });
    assert.equal(survivor.claims.length, 3, "its leases outlive the process");
    for (const claim of survivor.claims) await context.store.markClaimDelivered(claim);
    await context.expireLeases();
    const rest = await context.claim({ workerId: "survivor" });
    assert.equal(rest.claims.length, 5);
    if (context.capabilities.counters !== "exact") return;
    for (const { entry } of rest.claims) {
      assert.equal((await context.read(entry.entryId)).abandonedClaimCount, 1);
    }
  },
};

const killedAgainAndAgain: ConformanceCase = {
  id: "A11-killed-again-and-again",
  invariant: "A11",
  title: "processes killed in the middle of their work lose nothing",
  requires: when(harnessCan("processes"), countsExactly),
  passesLeases: 3,
  timeoutMs: 90_000,
  run: async (context) => {
    const count = 150;
    const enqueued = await context.enqueue(count);
    for (let round = 1; round <= 3; round++) {
      const loop = startClaimLoop(context, {
        workerId: `killed-${round}`,
        leaseDurationMs: context.leaseMs,
        maxCount: 4,
        rounds: null,
        seed: round,
        plan: "deliver",
      });
      try {
        await loop.claimed();
        await new Promise((resolve) => setTimeout(resolve, 15 * round));
      } finally {
        await loop.kill();
      }
    }
    // The database may still be at what a killed process sent last, and give it a lease.
    for (let round = 1; round <= mostLateLeases && (await openEntries(context)) > 0; round++) {
      await context.expireLeases();
      await deliverTheRest(context);
    }
    for (const { entryId } of enqueued) {
      const row = await context.raw.readEntry(entryId);
      if (row === null && context.capabilities.keepsDelivered === "never") continue;
      assert.equal(row?.status, "delivered", `entry ${entryId}, in the end`);
      assertUnclaimed(row, "in the end");
    }
  },
};

const cutOff: ConformanceCase = {
  id: "A11-connections-cut",
  invariant: "A11",
  title:
    "with its connections cut a store fails, and works again by itself once it can reach the database",
  requires: when(harnessCan("connections")),
  passesLeases: 1,
  timeoutMs: 60_000,
  run: async (context) => {
    const { connections, store } = context;
    assert(connections, "the harness can cut connections");
    await context.enqueue(4);
    const { claims } = await context.claim({ maxCount: 2 });
    const [kept, lost] = claims;
    assert(kept && lost, "two entries are claimed");
    await connections.disconnect();
    try {
      await assert.rejects(store.claim({ workerId: "worker-a" }), { code: "outbox.store_error" });
      await assert.rejects(store.markClaimDelivered(kept), { code: "outbox.store_error" });
    } finally {
      await connections.reconnect();
    }
    const applied = await store.markClaimDelivered(kept);
    assertOutcome(applied, "applied", "the same transition once the database is back");
    assert.equal((await context.claim()).claims.length, 2, "the store claims again");
    await context.expireLeases();
    assert.equal(await deliverTheRest(context), 3, "everything else is claimable after its lease");
  },
};

const cutInClaim: ConformanceCase = {
  id: "A11-connection-cut-inside-a-claim",
  invariant: "A11",
  title: "a connection that dies inside a claim leaves nothing locked and nothing lost",
  requires: when(harnessCan("connections"), harnessCan("gate")),
  passesLeases: 1,
  timeoutMs: 60_000,
  run: async (context) => {
    const { connections, gate } = context;
    assert(connections && gate, "the harness can cut connections and hold claims");
    await context.enqueue(5);
    const other = await context.openStore();
    const held = await gate.hold("dying");
    const dying = context.claim({ workerId: "dying", maxCount: 3 });
    dying.catch(() => undefined);
    try {
      await held.reached();
      await connections.disconnect();
    } finally {
      await held.release();
      await connections.reconnect();
    }
    await dying.catch(() => undefined);
    await context.expireLeases();
    const { claims } = await context.claim({ workerId: "survivor" }, other);
    assert.equal(claims.length, 5);
  },
};

export const noLoss: readonly ConformanceCase[] = [
  closedStore,
  everyPath,
  killedHolder,
  killedAgainAndAgain,
  cutOff,
  cutInClaim,
];
