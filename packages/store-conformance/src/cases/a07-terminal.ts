import assert from "node:assert/strict";
import { assertNear, assertOutcome, assertUnchanged } from "../assertions/raw-assertions.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { enforcesFences, facet, keepsDelivered, when } from "../suite/requirements.js";
import {
  claimTransitions,
  type NamedTransition,
  providerError,
  rejection,
  terminalTransitions,
  visibleTransitions,
} from "./claim-transitions.js";

/** For each terminal status that stays visible: an entry in it. */
async function eachTerminal(
  context: CaseContext,
  check: (entryId: string, transition: NamedTransition) => Promise<void>,
): Promise<void> {
  for (const transition of visibleTransitions(terminalTransitions, context.capabilities)) {
    const entryId = await context.enqueueOne();
    const claim = await context.claimOne();
    assertOutcome(await transition.apply(context.store, claim), "applied", transition.name);
    await check(entryId, transition);
  }
}

const neverClaimed: ConformanceCase = {
  id: "A7-never-claimed",
  invariant: "A7",
  title: "a delivered or dead-lettered entry is claimed by nobody, however much time passes",
  requires: when(keepsDelivered),
  passesLeases: 3,
  run: async (context) => {
    await eachTerminal(context, async (entryId) => {
      assert.equal((await context.read(entryId)).dueAt, null, "it is never due");
    });
    await context.time.advance(context.leaseMs * 2.5);
    const { store } = context;
    const { capabilities } = context;
    assert.deepEqual((await context.claim()).claims, []);
    if (capabilities.claimKinds === "separate") {
      const request = { workerId: "worker-a", leaseDurationMs: context.leaseMs };
      assert.deepEqual((await store.claimPending(request)).claims, []);
      assert.deepEqual((await store.claimRetryReady(request)).claims, []);
    }
    if (store.findPending === undefined) return;
    assert.deepEqual(await store.findPending(), []);
    assert.deepEqual(await store.findRetryReady?.(), []);
  },
};

const lateTransition: ConformanceCase = {
  id: "A7-late-transition",
  invariant: "A7",
  title: "a former holder's result finds the entry terminal, and overwrites nothing",
  requires: when(enforcesFences, keepsDelivered),
  passesLeases: 2,
  run: async (context) => {
    for (const terminal of visibleTransitions(terminalTransitions, context.capabilities)) {
      const entryId = await context.enqueueOne();
      const lost = await context.claimOne();
      await context.expireLeases();
      const current = await context.claimOne({ workerId: "worker-b" });
      await terminal.apply(context.store, current);
      const before = await context.read(entryId);
      for (const late of claimTransitions) {
        const what = `${late.name} after the entry is ${terminal.kind}`;
        assertOutcome(await late.apply(context.store, lost), "terminal", what);
        assertUnchanged(before, await context.read(entryId), what);
      }
      const [extension] = await context.store.extendClaims([lost], {
        leaseDurationMs: context.leaseMs,
      });
      assertOutcome(extension, "terminal", "a late extension");
      assertUnchanged(before, await context.read(entryId), "a late extension");
    }
  },
};

const secondThoughts: ConformanceCase = {
  id: "A7-second-thoughts",
  invariant: "A7",
  title: "who made the entry terminal cannot make it anything else with the same claim",
  requires: when(enforcesFences, keepsDelivered),
  run: async (context) => {
    for (const terminal of visibleTransitions(terminalTransitions, context.capabilities)) {
      const entryId = await context.enqueueOne();
      const claim = await context.claimOne();
      await terminal.apply(context.store, claim);
      const before = await context.read(entryId);
      for (const other of claimTransitions) {
        if (other.kind === terminal.kind) continue; // a repetition: A9
        const what = `${other.name} by the claim that made the entry ${terminal.kind}`;
        assertOutcome(await other.apply(context.store, claim), "terminal", what);
        assertUnchanged(before, await context.read(entryId), what);
      }
    }
  },
};

const selection: ConformanceCase = {
  id: "A7-selection-path",
  invariant: "A7",
  title: "the selection path answers `terminal` and changes nothing",
  requires: when(facet("selection"), keepsDelivered),
  run: async (context) => {
    const { store } = context;
    await eachTerminal(context, async (entryId) => {
      const before = await context.read(entryId);
      const entry = await store.findByOutboxEntryId?.(entryId);
      assert(entry, "a terminal entry is found by id");
      const refused = [
        await store.markDelivered?.(entryId),
        await store.markFailed?.(entryId, providerError, { retryInMs: 0 }),
        await store.markFailed?.(entryId, rejection),
        await store.markDeadLettered?.(entryId, rejection),
        await store.save?.(entry, { ...entry, status: "pending" }),
      ];
      assert.deepEqual(
        refused.map((transition) => transition?.outcome),
        refused.map(() => "terminal"),
      );
      assertUnchanged(before, await context.read(entryId), "the selection path");
    });
  },
};

const enqueuedAgain: ConformanceCase = {
  id: "A7-enqueued-again",
  invariant: "A7",
  title: "enqueueing a delivered or dead-lettered pair again changes nothing and revives nothing",
  requires: when(keepsDelivered),
  run: async (context) => {
    await eachTerminal(context, async (entryId) => {
      const before = await context.read(entryId);
      const [again] = await context.enqueue([
        { type: "order.changed", payload: "other", envelopeId: before.envelopeId },
      ]);
      assert.deepEqual(
        { entryId: again?.entryId, enqueued: again?.enqueued },
        { entryId, enqueued: false },
      );
      assertUnchanged(before, await context.read(entryId), "a second enqueue");
    });
  },
};

const redriven: ConformanceCase = {
  id: "A7-redrive-is-the-way",
  invariant: "A7",
  title:
    "a redrive makes a dead-lettered entry pending and due now, and leaves a delivered one alone",
  requires: when(facet("redrive")),
  run: async (context) => {
    const { store } = context;
    const deadId = await context.enqueueOne({ metadata: { note: "kept" } });
    await store.markClaimDeadLettered(await context.claimOne(), rejection, "no hope");
    const deliveredId = await context.enqueueOne();
    await store.markClaimDelivered(await context.claimOne());
    const deliveredBefore = await context.raw.readEntry(deliveredId);
    const deadBefore = await context.read(deadId);

    assert.deepEqual(await store.redrive?.({ all: true }, { dryRun: true }), { count: 1 });
    assertUnchanged(deadBefore, await context.read(deadId), "a dry run");
    const now = await context.raw.now();
    assert.deepEqual(await store.redrive?.({ all: true }, { by: "ops", reason: "fixed" }), {
      count: 1,
    });
    assertUnchanged(deliveredBefore, await context.raw.readEntry(deliveredId), "a redrive");

    const row = await context.read(deadId);
    assert.equal(row.status, "pending");
    assert.equal(row.retryCount, 0);
    assert.equal(row.deadLetterReason, null);
    assert.equal(row.failures.length, 1, "what went wrong stays known");
    assert.deepEqual(row.metadata, { note: "kept" });
    assertNear(row.dueAt, now, 5_000, "the due time");
    assert.equal((await context.claimOne()).entry.entryId, deadId);
    assert.deepEqual(await store.redrive?.({ all: true }), { count: 0 }, "nothing left to redrive");
  },
};

const redriveLeavesOpen: ConformanceCase = {
  id: "A7-redrive-leaves-open-entries",
  invariant: "A7",
  title: "a redrive touches no entry that is open: not waiting, not leased, not retrying",
  requires: when(facet("redrive")),
  run: async (context) => {
    await context.enqueue(3);
    const [claim] = (await context.claim({ maxCount: 2 })).claims;
    assert(claim, "each entry is claimed");
    await context.store.markClaimFailed(claim, providerError, { retryInMs: 600_000 });
    const before = await context.raw.readEntries();
    assert.deepEqual(await context.store.redrive?.({ all: true }), { count: 0 });
    assert.deepEqual(await context.raw.readEntries(), before);
  },
};

export const terminal: readonly ConformanceCase[] = [
  neverClaimed,
  lateTransition,
  secondThoughts,
  selection,
  enqueuedAgain,
  redriven,
  redriveLeavesOpen,
];
