import assert from "node:assert/strict";
import { assertOutcome } from "../assertions/raw-assertions.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, canDelay, facet, when } from "../suite/requirements.js";
import { providerError, rejection } from "./claim-transitions.js";

const parkedStays: ConformanceCase = {
  id: "A14-parked-is-not-claimed",
  invariant: "A14",
  title: "a failed entry is claimed by nobody, however much time passes",
  requires: always,
  passesLeases: 3,
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    const failed = await store.markClaimFailed(await context.claimOne(), rejection);
    assertOutcome(failed, "applied", "a failure that is not retryable");
    const before = await context.read(entryId);
    assert.equal(before.status, "failed");
    assert.equal(before.dueAt, null);
    await context.time.advance(context.leaseMs * 2.5);
    assert.deepEqual((await context.claim()).claims, []);
    if (context.capabilities.claimKinds === "separate") {
      assert.deepEqual((await store.claimPending({ workerId: "worker-a" })).claims, []);
      assert.deepEqual((await store.claimRetryReady({ workerId: "worker-a" })).claims, []);
    }
    if (store.findRetryReady !== undefined) {
      assert.deepEqual(await store.findPending?.(), []);
      assert.deepEqual(await store.findRetryReady(), []);
    }
    assert.equal((await context.read(entryId)).claimAttemptCount, before.claimAttemptCount);
  },
};

const parkedOrRetry: ConformanceCase = {
  id: "A14-parked-or-retried",
  invariant: "A14",
  title: "a failure is parked unless a retry time is given or the error is retryable",
  requires: always,
  run: async (context) => {
    const { store, raw } = context;
    const cases = [
      { error: rejection, retry: undefined, status: "failed" },
      { error: providerError, retry: undefined, status: "retryable-failure" },
      { error: rejection, retry: { retryInMs: 600_000 }, status: "retryable-failure" },
      {
        error: rejection,
        retry: { nextRetryAt: new Date((await raw.now()) + 600_000) },
        status: "retryable-failure",
      },
      { error: providerError, retry: { retryInMs: 600_000 }, status: "retryable-failure" },
    ] as const;
    await context.enqueue(cases.length);
    const { claims } = await context.claim();
    for (const [index, { error, retry, status }] of cases.entries()) {
      const claim = claims[index];
      assert(claim, "each entry is claimed");
      await store.markClaimFailed(claim, error, retry);
      assert.equal((await context.read(claim.entry.entryId)).status, status, `case ${index}`);
    }
  },
};

const redriven: ConformanceCase = {
  id: "A14-parked-until-redriven",
  invariant: "A14",
  title: "a redrive makes a parked entry claimable at once, and only those that it names",
  requires: when(facet("redrive")),
  run: async (context) => {
    await context.enqueue(3);
    for (const claim of (await context.claim()).claims) {
      await context.store.markClaimFailed(claim, rejection);
    }
    const [first, second] = await context.raw.readEntries();
    assert(first && second, "there are two");
    const redrive = await context.store.redrive?.({ entryIds: [second.entryId] });
    assert.deepEqual(redrive, { count: 1 });
    const claim = await context.claimOne();
    assert.equal(claim.entry.entryId, second.entryId);
    assert.equal(claim.entry.retryCount, 0);
    assert.equal((await context.read(first.entryId)).status, "failed");
    await assert.rejects(async () => context.store.redrive?.({}), {
      code: "outbox.invalid_argument",
    });
  },
};

const retriedWhenDue: ConformanceCase = {
  id: "A14-retried-when-due",
  invariant: "A14",
  title: "retryable failures and deferred entries are claimed when they are due",
  requires: when(canDelay()),
  passesLeases: 1,
  run: async (context) => {
    const delayMs = context.leaseMs;
    await context.enqueue(2);
    const [failing, deferring] = (await context.claim()).claims;
    assert(failing && deferring, "two entries are claimed");
    await context.store.completeClaims([
      { claim: failing, kind: "failed", error: providerError, retry: { retryInMs: delayMs } },
      { claim: deferring, kind: "deferred", retryInMs: delayMs },
    ]);
    assert.deepEqual((await context.claim()).claims, []);
    await context.time.advance(delayMs + context.marginMs);
    const { claims } = await context.claim();
    assert.deepEqual(claims.map(({ entry }) => entry.status).sort(), [
      "deferred",
      "retryable-failure",
    ]);
    for (const { entry } of claims) {
      const row = await context.read(entry.entryId);
      assert.equal(row.status, entry.status, "a claim leaves the status as it was");
    }
  },
};

export const parked: readonly ConformanceCase[] = [
  parkedStays,
  parkedOrRetry,
  redriven,
  retriedWhenDue,
];
