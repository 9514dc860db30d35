import assert from "node:assert/strict";
import type { OutboxClaim } from "@outbox/core";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { canDelay, harnessCan, ordersExactly, when } from "../suite/requirements.js";
import { providerError } from "./claim-transitions.js";

const idsOf = (claims: readonly OutboxClaim[]): string[] =>
  claims.map((claim) => claim.entry.entryId);

/** Entries whose due order is not their sequence; their ids in due order. */
async function enqueueOutOfOrder(context: CaseContext): Promise<string[]> {
  const delays = [50, 10, 40, 20, 60, 30].map((part) => (part * context.leaseMs) / 100);
  const results = await context.enqueue(
    delays.map((availableInMs) => ({ type: "order.placed", availableInMs })),
  );
  await context.time.advance(context.leaseMs);
  return results
    .map(({ entryId }, index) => ({ entryId, delay: delays[index] ?? 0 }))
    .sort((left, right) => left.delay - right.delay)
    .map(({ entryId }) => entryId);
}

const firstN: ConformanceCase = {
  id: "A3-lone-claimer-first-n",
  invariant: "A3",
  title: "a lone claimer gets precisely the first n by due time",
  requires: when(ordersExactly, canDelay()),
  passesLeases: 1,
  run: async (context) => {
    const ids = await enqueueOutOfOrder(context);
    const first = await context.claim({ maxCount: 2 });
    assert.deepEqual(idsOf(first.claims), ids.slice(0, 2));
    const second = await context.claim({ maxCount: 3 });
    assert.deepEqual(idsOf(second.claims), ids.slice(2, 5));
    const third = await context.claim({ maxCount: 3 });
    assert.deepEqual(idsOf(third.claims), ids.slice(5));
  },
};

const returned: ConformanceCase = {
  id: "A3-returned-order",
  invariant: "A3",
  title: "a batch comes back in due order, whatever the order of the table",
  requires: when(ordersExactly, canDelay()),
  passesLeases: 1,
  run: async (context) => {
    const ids = await enqueueOutOfOrder(context);
    const { claims } = await context.claim();
    assert.deepEqual(idsOf(claims), ids);
  },
};

const ties: ConformanceCase = {
  id: "A3-ties-by-sequence",
  invariant: "A3",
  title: "entries of one due time go in the order in which they were enqueued",
  requires: when(ordersExactly),
  run: async (context) => {
    const availableAt = new Date((await context.raw.now()) - 3_600_000);
    const first = await context.enqueue(
      Array.from({ length: 25 }, () => ({ type: "order.placed", availableAt })),
    );
    const second = await context.enqueue(
      Array.from({ length: 25 }, () => ({ type: "order.placed", availableAt })),
    );
    const ids = [...first, ...second].map((result) => result.entryId);
    const got: string[] = [];
    for (const maxCount of [10, 30, 10]) {
      got.push(...idsOf((await context.claim({ maxCount })).claims));
    }
    assert.deepEqual(got, ids);
  },
};

const releasedPlace: ConformanceCase = {
  id: "A3-released-keeps-its-place",
  invariant: "A3",
  title: "an entry released without a delay is due where it was before, ahead of younger ones",
  requires: when(ordersExactly),
  passesLeases: 1,
  run: async (context) => {
    const older = await context.enqueueOne();
    const claim = await context.claimOne();
    await context.time.advance(context.leaseMs / 4);
    const younger = await context.enqueueOne();
    await context.time.advance(context.leaseMs / 4);
    await context.store.releaseClaim(claim);
    const { claims } = await context.claim();
    assert.deepEqual(idsOf(claims), [older, younger]);
  },
};

const retryOrder: ConformanceCase = {
  id: "A3-retry-by-its-due-time",
  invariant: "A3",
  title: "a failed entry is ordered by its retry time, not by its age",
  requires: when(ordersExactly, canDelay()),
  passesLeases: 1,
  run: async (context) => {
    const failed = await context.enqueueOne();
    const claim = await context.claimOne();
    await context.store.markClaimFailed(claim, providerError, { retryInMs: context.leaseMs / 2 });
    const younger = await context.enqueueOne();
    await context.time.advance(context.leaseMs);
    const { claims } = await context.claim();
    assert.deepEqual(idsOf(claims), [younger, failed]);
  },
};

const contendedOrder: ConformanceCase = {
  id: "A3-contended-order",
  invariant: "A3",
  title: "a claimer that passes locked entries by still gets its own in due order",
  requires: when(ordersExactly, harnessCan("gate")),
  run: async (context) => {
    const ids = (await context.enqueue(9)).map((result) => result.entryId);
    const other = await context.openStore();
    assert(context.gate, "the harness has a gate");
    const held = await context.gate.hold("held");
    const claimHeld = context.claim({ workerId: "held", maxCount: 3 });
    try {
      await held.reached();
      const claimOther = context.claim({ workerId: "other", maxCount: 3 }, other);
      // A store that waits for the lock instead of passing it by needs the gate to open.
      const timer = setTimeout(() => void held.release(), 1_000);
      const { claims } = await claimOther;
      clearTimeout(timer);
      await held.release();
      assert.deepEqual(idsOf((await claimHeld).claims), ids.slice(0, 3));
      assert.deepEqual(
        idsOf(claims),
        ids.filter((id) => idsOf(claims).includes(id)),
        "in due order",
      );
    } finally {
      await held.release();
      await claimHeld.catch(() => undefined);
    }
  },
};

const cursor: ConformanceCase = {
  id: "A3-cursor-continues",
  invariant: "A3",
  title: "a claim after an earlier batch's cursor goes on behind it, and one without starts anew",
  requires: when(ordersExactly),
  run: async (context) => {
    const ids = (await context.enqueue(9)).map((result) => result.entryId);
    const first = await context.claim({ maxCount: 3 });
    const after = first.cursor === undefined ? {} : { after: first.cursor };
    const second = await context.claim({ maxCount: 3, ...after });
    assert.deepEqual(idsOf(second.claims), ids.slice(3, 6));
    const [firstClaim] = first.claims;
    assert(firstClaim, "a first claim");
    await context.store.releaseClaim(firstClaim);
    const third = await context.claim({ maxCount: 3 });
    assert.deepEqual(
      idsOf(third.claims),
      [ids[0], ids[6], ids[7]],
      "without a cursor the released entry is first again",
    );
  },
};

export const ordered: readonly ConformanceCase[] = [
  firstN,
  returned,
  ties,
  releasedPlace,
  retryOrder,
  contendedOrder,
  cursor,
];
