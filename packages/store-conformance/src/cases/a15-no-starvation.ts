import assert from "node:assert/strict";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { canDelay, declares, ordersExactly, when } from "../suite/requirements.js";
import { providerError } from "./claim-transitions.js";

const oneDueOrder: ConformanceCase = {
  id: "A15-one-due-order",
  invariant: "A15",
  title: "pending and retry-ready entries share one due order",
  requires: when(ordersExactly, canDelay()),
  passesLeases: 1,
  run: async (context) => {
    const part = context.leaseMs / 10;
    await context.enqueue(2);
    const retries = (await context.claim()).claims;
    const delays = [2, 4];
    await context.store.completeClaims(
      retries.map((claim, index) => ({
        claim,
        kind: "failed",
        error: providerError,
        retry: { retryInMs: (delays[index] ?? 0) * part },
      })),
    );
    const pending = await context.enqueue(
      [1, 3, 5].map((place) => ({ type: "order.placed", availableInMs: place * part })),
    );
    await context.time.advance(context.leaseMs);
    const expected = [
      pending[0]?.entryId,
      retries[0]?.entry.entryId,
      pending[1]?.entryId,
      retries[1]?.entry.entryId,
      pending[2]?.entryId,
    ];
    const got: string[] = [];
    for (const maxCount of [2, 2, 2]) {
      const { claims } = await context.claim({ maxCount });
      got.push(...claims.map(({ entry }) => entry.entryId));
    }
    assert.deepEqual(got, expected);
  },
};

const retryAmongMany: ConformanceCase = {
  id: "A15-retry-among-fresh",
  invariant: "A15",
  title: "a retry that is due is claimed although fresh entries never run out",
  requires: when(ordersExactly, canDelay()),
  passesLeases: 1,
  run: async (context) => {
    const retryId = await context.enqueueOne();
    await context.store.markClaimFailed(await context.claimOne(), providerError, {
      retryInMs: context.leaseMs / 4,
    });
    await context.enqueue(10);
    await context.time.advance(context.leaseMs / 2);
    let claimedRetry = false;
    for (let round = 0; round < 6 && !claimedRetry; round++) {
      await context.enqueue(5);
      const { claims } = await context.claim({ maxCount: 5 });
      claimedRetry = claims.some(({ entry }) => entry.entryId === retryId);
      await context.store.completeClaims(claims.map((claim) => ({ claim, kind: "delivered" })));
    }
    assert(claimedRetry, "within the batches that were due before it");
  },
};

const freshAmongRetries: ConformanceCase = {
  id: "A15-fresh-among-retries",
  invariant: "A15",
  title: "a fresh entry is claimed although retries come back due all the time",
  requires: when(ordersExactly),
  passesLeases: 4,
  run: async (context) => {
    await context.enqueue(5);
    const failAll = async () => {
      const { claims } = await context.claim({ maxCount: 5 });
      await context.store.completeClaims(
        claims.map((claim) => ({
          claim,
          kind: "failed",
          error: providerError,
          retry: { retryInMs: 0 },
        })),
      );
      return claims.map(({ entry }) => entry.entryId);
    };
    await failAll();
    const fresh = await context.enqueueOne();
    const seen: string[] = [];
    for (let round = 0; round < 3; round++) {
      await context.time.advance(context.leaseMs / 4);
      seen.push(...(await failAll()));
    }
    assert(seen.includes(fresh), "it has its turn among the retries");
  },
};

const typesAhead: ConformanceCase = {
  id: "A15-other-types-ahead",
  invariant: "A15",
  title: "a worker of some types finds its entries behind any number of others",
  requires: when(declares("typeFilter", "in-claim")),
  run: async (context) => {
    const other = (type: string) => Array.from({ length: 150 }, () => ({ type }));
    await context.enqueue([...other("invoice.sent"), ...other("orders.placed")]);
    const wanted = await context.enqueue([
      { type: "order.placed" },
      { type: "order.cancelled" },
      { type: "mail.sent" },
    ]);
    const { claims, more } = await context.claim({
      types: ["order.*", "mail.sent"],
      maxCount: 10,
    });
    assert.deepEqual(
      claims.map(({ entry }) => entry.entryId),
      wanted.map((result) => result.entryId),
    );
    assert.equal(more, "none", "what others handle is not more for this worker");
    const stamped = (await context.raw.readEntries()).filter((row) => row.claimToken !== null);
    assert.equal(stamped.length, 3, "nothing else is stamped");
  },
};

const suspectsAhead: ConformanceCase = {
  id: "A15-suspects-ahead",
  invariant: "A15",
  title: "suspects hold no fresh entry back, and fresh entries no suspect",
  requires: when(declares("crashIsolation", true)),
  passesLeases: 1,
  run: async (context) => {
    await context.enqueue(6);
    const crashed = (await context.claim({ workerId: "crashed" })).claims;
    await context.expireLeases();
    const fresh = await context.enqueue(6);
    const suspects = new Set(crashed.map(({ entry }) => entry.entryId));

    const normal = await context.claim({ suspects: "exclude", maxCount: 4 });
    assert.deepEqual(
      normal.claims.map(({ entry }) => entry.entryId),
      fresh.slice(0, 4).map((result) => result.entryId),
      "fresh ones, though the suspects are older",
    );
    assert.equal(normal.suspectsDue, true, "and says that suspects are due");

    const suspect = await context.claim({ suspects: "only", maxCount: 4 });
    assert(suspect.claims.length > 0, "suspects, though fresh entries are due too");
    for (const { entry } of suspect.claims) {
      assert(suspects.has(entry.entryId), "only suspects are claimed");
    }
  },
};

const includedByDefault: ConformanceCase = {
  id: "A15-suspects-are-claimed-by-default",
  invariant: "A15",
  title: "who says nothing about suspects gets everything that is due, in due order",
  requires: when(ordersExactly),
  passesLeases: 1,
  run: async (context) => {
    const held = await context.enqueue(3);
    await context.claim({ workerId: "crashed" });
    await context.expireLeases();
    const fresh = await context.enqueue(3);
    const batch = await context.claim();
    assert.deepEqual(
      batch.claims.map(({ entry }) => entry.entryId),
      [...held, ...fresh].map((result) => result.entryId),
      "expired leases by their end, then what came later",
    );
    assert.equal(batch.suspectsDue, false, "nothing was left out");
  },
};

export const noStarvation: readonly ConformanceCase[] = [
  oneDueOrder,
  retryAmongMany,
  freshAmongRetries,
  typesAhead,
  suspectsAhead,
  includedByDefault,
];
