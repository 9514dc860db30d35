import assert from "node:assert/strict";
import type { OutboxClaim } from "@outbox/core";
import { assertNear, assertOutcome } from "../assertions/raw-assertions.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, canDelay, declares, harnessCan, when } from "../suite/requirements.js";
import { withHostClock } from "../suite/with-host-clock.js";
import { providerError } from "./claim-transitions.js";

const hour = 3_600_000;
const skews = [-7 * hour, 7 * hour];

/** How far the store's clock may go between two looks at it, in ms. */
const slackMs = 5_000;

const skewedClaim: ConformanceCase = {
  id: "A12-skewed-claimer",
  invariant: "A12",
  title: "a worker whose clock is hours off takes leases of the same length at the same time",
  requires: always,
  run: async (context) => {
    for (const skew of skews) {
      const entryId = await withHostClock(skew, () => context.enqueueOne());
      const now = await context.raw.now();
      const claim = await withHostClock(skew, () => context.claimOne());
      const row = await context.read(entryId);
      const off = `with a host clock off by ${skew / hour} h`;
      assertNear(row.createdAt, now, slackMs, `createdAt ${off}`);
      assertNear(row.claimedAt, now, slackMs, `claimedAt ${off}`);
      assertNear(
        row.claimExpiresAt,
        (row.claimedAt ?? 0) + context.leaseMs,
        context.capabilities.timePrecisionMs,
        `claimExpiresAt ${off}`,
      );
      const [extension] = await withHostClock(skew, () =>
        context.store.extendClaims([claim], { leaseDurationMs: context.leaseMs }),
      );
      assertOutcome(extension, "applied", `an extension ${off}`);
      const extended = await context.read(entryId);
      assertNear(extended.claimExpiresAt, now + context.leaseMs, slackMs, `the extension ${off}`);
      await withHostClock(skew, () => context.store.markClaimDeadLettered(claim, providerError));
      const dead = await context.read(entryId);
      assertNear(dead.updatedAt, now, slackMs, `updatedAt ${off}`);
    }
  },
};

const skewedJudgement: ConformanceCase = {
  id: "A12-skewed-judgement",
  invariant: "A12",
  title: "a worker whose clock is ahead takes no live lease and nothing that is not due",
  requires: when(canDelay()),
  run: async (context) => {
    await context.enqueueOne();
    await context.claimOne();
    await context.enqueueOne({ availableInMs: 2 * hour });
    for (const skew of skews) {
      const { claims } = await withHostClock(skew, () => context.claim({ workerId: "skewed" }));
      assert.deepEqual(claims, [], `with a host clock off by ${skew / hour} h`);
    }
    await context.enqueueOne();
    const claim = await withHostClock(-7 * hour, () => context.claimOne({ workerId: "skewed" }));
    assert(claim, "a worker whose clock is behind takes what is due");
  },
};

const skewedDelays: ConformanceCase = {
  id: "A12-delays-by-the-store",
  invariant: "A12",
  title: "delays are reckoned from the store's now, whatever the host's clock says",
  requires: when(canDelay()),
  run: async (context) => {
    const delayMs = 2 * hour;
    const { store } = context;
    for (const skew of skews) {
      const off = `with a host clock off by ${skew / hour} h`;
      const dueOf = async (entryId: string) => (await context.read(entryId)).dueAt;
      const now = await context.raw.now();
      const delayed = await withHostClock(skew, () =>
        context.enqueueOne({ availableInMs: delayMs }),
      );
      assertNear(await dueOf(delayed), now + delayMs, slackMs, `availableInMs ${off}`);
      const endings: readonly ((claim: OutboxClaim) => Promise<unknown>)[] = [
        (claim) => store.releaseClaim(claim, { delayMs }),
        (claim) => store.markClaimFailed(claim, providerError, { retryInMs: delayMs }),
        (claim) => store.completeClaims([{ claim, kind: "deferred", retryInMs: delayMs }]),
      ];
      for (const end of endings) {
        const entryId = await context.enqueueOne();
        await withHostClock(skew, async () => end(await context.claimOne()));
        assertNear(await dueOf(entryId), now + delayMs, slackMs, `a delay of a transition ${off}`);
      }
    }
  },
};

const localDeadline: ConformanceCase = {
  id: "A12-local-deadline",
  invariant: "A12",
  title:
    "the local deadline is never later than the store's expiry, reckoned from when it was sent",
  requires: always,
  run: async (context) => {
    await context.enqueueOne();
    const leaseDurationMs = context.leaseMs;
    const sent = { monotonicMs: performance.now(), wallMs: Date.now() };
    const claim = await context.claimOne();
    const replied = { monotonicMs: performance.now(), wallMs: Date.now() };
    for (const clock of ["monotonicMs", "wallMs"] as const) {
      const deadline = claim.deadline[clock];
      assert(deadline >= sent[clock] + leaseDurationMs - 2, `${clock} gives the lease its length`);
      assert(
        deadline <= replied[clock] + leaseDurationMs,
        `${clock} is not later than the lease as it was when the reply came`,
      );
    }
    const storeLeft = claim.claimExpiresAt.getTime() - (await context.raw.now());
    const localLeft = claim.deadline.monotonicMs - performance.now();
    assert(
      localLeft <= storeLeft + context.capabilities.timePrecisionMs + 20,
      `locally ${localLeft} ms are left, in the store ${storeLeft} ms`,
    );
  },
};

const replayedDeadline: ConformanceCase = {
  id: "A12-local-deadline-of-a-replay",
  invariant: "A12",
  title: "a lease that is found again has what is left of it, not its full length once more",
  requires: when(declares("claimReplay", true)),
  passesLeases: 1,
  run: async (context) => {
    await context.enqueueOne();
    await context.claimOne({ claimId: "claim-1" });
    await context.time.advance(context.leaseMs * 0.5);
    const found = await context.claimOne({ claimId: "claim-1" });
    const left = found.deadline.monotonicMs - performance.now();
    assert(
      left <= context.leaseMs * 0.5 + context.capabilities.timePrecisionMs + 20,
      `${left} ms are believed to be left of half a lease of ${context.leaseMs} ms`,
    );
  },
};

const variants: ConformanceCase = {
  id: "A12-session-variants",
  invariant: "A12",
  title: "differently set up sessions judge and stamp by the same clock",
  requires: when(harnessCan("sessionVariants")),
  run: async (context) => {
    const stores: { readonly name: string; readonly store: CaseContext["store"] }[] = [
      { name: "the plain session", store: context.store },
    ];
    for (const variant of context.sessionVariants ?? []) {
      stores.push({ name: variant.name, store: await variant.openStore() });
    }
    for (const { name, store } of stores) {
      const now = await context.raw.now();
      const held = await context.enqueueOne();
      await context.enqueueOne({ availableInMs: 2 * hour });
      const claim = await context.claimOne({ workerId: name }, store);
      assert.equal(claim.entry.entryId, held, `${name} takes what is due and nothing else`);
      const row = await context.read(held);
      assertNear(row.claimedAt, now, slackMs, `claimedAt by ${name}`);
      assertNear(
        row.claimExpiresAt,
        (row.claimedAt ?? 0) + context.leaseMs,
        context.capabilities.timePrecisionMs,
        `claimExpiresAt by ${name}`,
      );
      assertNear(
        claim.claimExpiresAt.getTime(),
        row.claimExpiresAt ?? 0,
        context.capabilities.timePrecisionMs + 1,
        `the claimExpiresAt that ${name} returns`,
      );
      for (const other of stores) {
        const { claims } = await context.claim({ workerId: other.name }, other.store);
        assert.deepEqual(claims, [], `${other.name} respects the lease taken by ${name}`);
      }
    }
  },
};

export const oneClock: readonly ConformanceCase[] = [
  skewedClaim,
  skewedJudgement,
  skewedDelays,
  localDeadline,
  replayedDeadline,
  variants,
];
