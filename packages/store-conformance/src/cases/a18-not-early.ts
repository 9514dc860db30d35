import assert from "node:assert/strict";
import type { OutboxClaim } from "@outbox/core";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { canDelay, harnessCan, when } from "../suite/requirements.js";
import { providerError } from "./claim-transitions.js";

/** One way in which an entry gets a due time in the future. */
interface Postponement {
  readonly name: string;
  /** Leaves one entry that is due `delayMs` from now. */
  postpone(context: CaseContext, delayMs: number): Promise<string>;
}

const viaClaim =
  (end: (context: CaseContext, claim: OutboxClaim, delayMs: number) => Promise<unknown>) =>
  async (context: CaseContext, delayMs: number): Promise<string> => {
    const entryId = await context.enqueueOne();
    await end(context, await context.claimOne(), delayMs);
    return entryId;
  };

const inDelay = async (context: CaseContext, delayMs: number): Promise<Date> =>
  new Date(Math.ceil((await context.raw.now()) + delayMs));

const postponements: readonly Postponement[] = [
  {
    name: "availableInMs",
    postpone: (context, availableInMs) => context.enqueueOne({ availableInMs }),
  },
  {
    name: "availableAt",
    postpone: async (context, delayMs) =>
      context.enqueueOne({ availableAt: await inDelay(context, delayMs) }),
  },
  {
    name: "retryInMs",
    postpone: viaClaim((context, claim, retryInMs) =>
      context.store.markClaimFailed(claim, providerError, { retryInMs }),
    ),
  },
  {
    name: "nextRetryAt",
    postpone: viaClaim(async (context, claim, delayMs) =>
      context.store.markClaimFailed(claim, providerError, {
        nextRetryAt: await inDelay(context, delayMs),
      }),
    ),
  },
  {
    name: "a deferral",
    postpone: viaClaim((context, claim, retryInMs) =>
      context.store.completeClaims([{ claim, kind: "deferred", retryInMs }]),
    ),
  },
  {
    name: "a saved deferral",
    postpone: viaClaim(async (context, claim, delayMs) =>
      context.store.saveClaim(claim, {
        ...claim.entry,
        status: "deferred",
        nextRetryAt: await inDelay(context, delayMs),
      }),
    ),
  },
  {
    name: "a release with a delay",
    postpone: viaClaim((context, claim, delayMs) => context.store.releaseClaim(claim, { delayMs })),
  },
  {
    name: "a release of a delayed retry",
    postpone: viaClaim(async (context, claim, delayMs) => {
      await context.store.markClaimFailed(claim, providerError, { retryInMs: 0 });
      await context.store.releaseClaim(await context.claimOne(), { delayMs });
    }),
  },
];

/** Whether anyone, asking in any way, is offered the entry. */
async function offered(context: CaseContext): Promise<readonly string[]> {
  const { store, capabilities } = context;
  const ids: string[] = [];
  const ask = async (claims: readonly OutboxClaim[]) => {
    ids.push(...claims.map(({ entry }) => entry.entryId));
    for (const claim of claims) await store.releaseClaim(claim);
  };
  await ask((await context.claim()).claims);
  if (capabilities.claimKinds === "separate") {
    await ask((await store.claimPending({ workerId: "worker-a" })).claims);
    await ask((await store.claimRetryReady({ workerId: "worker-a" })).claims);
  }
  for (const entry of (await store.findPending?.()) ?? []) ids.push(entry.entryId);
  for (const entry of (await store.findRetryReady?.()) ?? []) ids.push(entry.entryId);
  return ids;
}

const notBefore: ConformanceCase = {
  id: "A18-not-before-its-time",
  invariant: "A18",
  title:
    "nobody is offered an entry before its due time, however it was postponed; afterwards anyone is",
  requires: when(canDelay()),
  passesLeases: 2,
  run: async (context) => {
    // All at once, so that the time has to be moved once.
    const outboxes = await Promise.all(
      postponements.map(async ({ name, postpone }) => {
        const own = await context.createOutbox();
        return { name, own, entryId: await postpone(own, own.leaseMs) };
      }),
    );
    const advance = (ms: number) => Promise.all(outboxes.map(({ own }) => own.time.advance(ms)));
    const almost = context.leaseMs * 0.8;
    for (const passed of [0, almost]) {
      if (passed > 0) await advance(passed);
      for (const { name, own } of outboxes) {
        assert.deepEqual(await offered(own), [], `postponed by ${name}, ${passed} ms later`);
      }
    }
    await advance(context.leaseMs - almost + context.marginMs);
    for (const { name, own, entryId } of outboxes) {
      const claim = await own.claimOne();
      assert.equal(claim.entry.entryId, entryId, `postponed by ${name}, once it is due`);
    }
  },
};

const pastIsNow: ConformanceCase = {
  id: "A18-past-is-creation",
  invariant: "A18",
  title: "an entry that was available before it was created is due at its creation",
  requires: when(canDelay()),
  run: async (context) => {
    const older = await context.enqueueOne();
    const entryId = await context.enqueueOne({ availableAt: new Date("2001-01-01T00:00:00Z") });
    const row = await context.read(entryId);
    assert.equal(row.dueAt, row.createdAt);
    const { claims } = await context.claim();
    assert.deepEqual(
      claims.map(({ entry }) => entry.entryId),
      [older, entryId],
      "it does not overtake what waited",
    );
  },
};

const releaseRestores: ConformanceCase = {
  id: "A18-release-restores-the-due-time",
  invariant: "A18",
  title: "a release without a delay restores the due time from before the claim, in every status",
  requires: when(canDelay()),
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    const dueAt = async () => (await context.read(entryId)).dueAt;
    const created = await dueAt();
    await store.releaseClaim(await context.claimOne());
    assert.equal(await dueAt(), created, "pending");

    await store.releaseClaim(await context.claimOne(), { delayMs: 0 });
    const delayed = await dueAt();
    await store.releaseClaim(await context.claimOne());
    assert.equal(await dueAt(), delayed, "after a release with a delay");

    await store.markClaimFailed(await context.claimOne(), providerError, { retryInMs: 0 });
    const retry = await dueAt();
    await store.releaseClaim(await context.claimOne());
    assert.equal(await dueAt(), retry, "retryable-failure");

    await store.completeClaims([
      { claim: await context.claimOne(), kind: "deferred", retryInMs: 0 },
    ]);
    const deferred = await dueAt();
    await store.releaseClaim(await context.claimOne());
    assert.equal(await dueAt(), deferred, "deferred");
  },
};

const variants: ConformanceCase = {
  id: "A18-session-variants",
  invariant: "A18",
  title: "no session's time zone makes an entry due early or late",
  requires: when(canDelay(), harnessCan("sessionVariants")),
  run: async (context) => {
    const hour = 3_600_000;
    const now = await context.raw.now();
    for (const { name, openStore } of context.sessionVariants ?? []) {
      const store = await openStore();
      const [later, past] = await store.enqueue(
        [
          { type: "order.placed", availableAt: new Date(now + hour) },
          { type: "order.placed", availableAt: new Date(now - hour) },
        ],
        { autonomous: true },
      );
      const { claims } = await context.claim({ workerId: name }, store);
      assert.deepEqual(
        claims.map(({ entry }) => entry.entryId),
        [past?.entryId],
        `${name} takes what is due`,
      );
      const row = await context.read(later?.entryId ?? "");
      assert.equal(row.availableAt, Math.floor(now + hour), `availableAt written by ${name}`);
    }
  },
};

export const notEarly: readonly ConformanceCase[] = [
  notBefore,
  pastIsNow,
  releaseRestores,
  variants,
];
