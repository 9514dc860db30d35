import assert from "node:assert/strict";
import type { StoreCapabilities } from "@outbox/core";
import { assertOutcome } from "../assertions/raw-assertions.js";
import { capabilityValues } from "../suite/capability-values.js";
import { facetMethods } from "../suite/case-subject.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, declares, eitherWay, when } from "../suite/requirements.js";
import { claimTransitions, providerError, rejection } from "./claim-transitions.js";

const declared: ConformanceCase = {
  id: "contract-capabilities",
  invariant: "contract",
  title:
    "contract version, name and every capability are declared, and are those that were promised",
  requires: always,
  run: async (context) => {
    const { store } = context;
    assert.equal(store.contractVersion, 1);
    assert.equal(typeof store.storeName, "string");
    assert(store.storeName.length > 0, "the store has a name");
    for (const [name, isValid] of Object.entries(capabilityValues)) {
      const value: unknown = store.capabilities[name as keyof StoreCapabilities];
      assert(isValid(value), `capabilities.${name} must be declared, not ${String(value)}`);
    }
    assert.deepEqual({ ...store.capabilities }, { ...context.capabilities });
    const other = await context.openStore();
    assert.deepEqual({ ...other.capabilities }, { ...context.capabilities });
  },
};

const facetsWhole: ConformanceCase = {
  id: "contract-facets-are-whole",
  invariant: "contract",
  title: "a facet is there with all its methods, or not there at all",
  requires: always,
  run: async (context) => {
    for (const [name, methods] of Object.entries(facetMethods)) {
      const present = methods.filter((method) => context.store[method] !== undefined);
      assert(
        present.length === 0 || present.length === methods.length,
        `of facet ${name} there are ${present.join(", ")} of ${methods.join(", ")}`,
      );
      for (const method of present) assert.equal(typeof context.store[method], "function");
    }
  },
};

const harnessOwes: ConformanceCase = {
  id: "contract-harness-shows-what-is-promised",
  invariant: "contract",
  title:
    "the harness can show what the capabilities promise, and sees the store's own clock and rows",
  requires: always,
  run: async (context) => {
    const { capabilities, raw } = context;
    assert.equal(context.transactions !== undefined, capabilities.transactionalEnqueue);
    assert.deepEqual(await raw.readEntries(), [], "a new outbox is empty");
    assert.equal(await raw.readEntry("no-such-entry"), null);
    const entryId = await context.enqueueOne();
    const other = await context.createOutbox();
    assert.deepEqual(await other.raw.readEntries(), [], "another outbox shares nothing");
    const now = await raw.now();
    const row = await context.read(entryId);
    assert(Math.abs(row.createdAt - now) < 5_000, "raw.now() is the clock that writes createdAt");
    assert.deepEqual(await raw.readEntries(), [row]);
  },
};

const timeMoves: ConformanceCase = {
  id: "contract-time-moves",
  invariant: "contract",
  title: "time.advance moves the store's now past stored instants, and nothing else",
  requires: always,
  passesLeases: 1,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const ageOf = async () => (await context.raw.now()) - (await context.read(entryId)).createdAt;
    await context.claim();
    const { claimToken, claimAttemptCount, status } = await context.read(entryId);
    const before = await ageOf();
    await context.time.advance(context.leaseMs / 2);
    const passed = (await ageOf()) - before;
    assert(
      passed >= context.leaseMs / 2 - 1 && passed < context.leaseMs / 2 + 5_000,
      `${passed} ms passed of ${context.leaseMs / 2}`,
    );
    const after = await context.read(entryId);
    assert.deepEqual(
      [after.claimToken, after.claimAttemptCount, after.status],
      [claimToken, claimAttemptCount, status],
    );
  },
};

const claimKinds: ConformanceCase = {
  id: "contract-claim-kinds",
  invariant: "contract",
  title:
    "pending and retry-ready entries are claimed apart; where they cannot be, asking is refused",
  requires: eitherWay((capabilities) => capabilities.claimKinds === "separate"),
  run: async (context) => {
    const { store } = context;
    await context.enqueue(4);
    const { claims } = await context.claim({ maxCount: 2 });
    const [failing, deferring] = claims;
    assert(failing && deferring, "two entries are claimed");
    await store.completeClaims([
      { claim: failing, kind: "failed", error: providerError, retry: { retryInMs: 0 } },
      { claim: deferring, kind: "deferred", retryInMs: 0 },
    ]);
    const request = { workerId: "worker-a", leaseDurationMs: context.leaseMs };
    const pending = await store.claimPending(request);
    assert.deepEqual(
      pending.claims.map(({ entry }) => entry.status),
      ["pending", "pending"],
    );
    const retries = await store.claimRetryReady(request);
    assert.deepEqual(retries.claims.map(({ entry }) => entry.status).sort(), [
      "deferred",
      "retryable-failure",
    ]);
  },
  runNegative: async (context) => {
    await context.enqueueOne();
    for (const method of ["claimPending", "claimRetryReady"] as const) {
      await assert.rejects(context.store[method]({ workerId: "worker-a" }), {
        code: "outbox.unsupported",
      });
    }
  },
};

const typeFilter: ConformanceCase = {
  id: "contract-type-filter",
  invariant: "contract",
  title: "types are matched exactly or by prefix; where they cannot be, asking is refused",
  requires: eitherWay((capabilities) => capabilities.typeFilter === "in-claim"),
  run: async (context) => {
    const types = ["a.b", "a.b.c", "a", "ab", "A.b", "a_b", "a%b", "b.a"];
    await context.enqueue(types.map((type) => ({ type })));
    const claimed = async (patterns: readonly string[]) => {
      const { claims } = await context.claim({ types: patterns });
      await context.store.completeClaims(claims.map((claim) => ({ claim, kind: "release" })));
      return claims.map(({ entry }) => entry.envelope.type);
    };
    assert.deepEqual(await claimed(["a.b"]), ["a.b"]);
    assert.deepEqual(await claimed(["a.*"]), ["a.b", "a.b.c"]);
    assert.deepEqual(await claimed(["a_b", "b.*"]), ["a_b", "b.a"]);
    assert.deepEqual(await claimed(["a%b"]), ["a%b"], "no wildcard of the database's own");
    assert.deepEqual(await claimed(["c"]), []);
    assert.deepEqual(await claimed(["*"]), types);
  },
  runNegative: async (context) => {
    await context.enqueueOne();
    await assert.rejects(context.claim({ types: ["order.placed"] }), {
      code: "outbox.unsupported",
    });
  },
};

const limits: ConformanceCase = {
  id: "contract-limits",
  invariant: "contract",
  title: "a declared limit is refused beyond and served up to it",
  requires: always,
  run: async (context) => {
    const { capabilities, store } = context;
    const { maxLeaseMs, maxClaimCount, maxDelayMs } = capabilities;
    const refused = { code: "outbox.invalid_argument" };
    await context.enqueueOne();
    if (maxClaimCount !== null) {
      await assert.rejects(context.claim({ maxCount: maxClaimCount + 1 }), refused);
    }
    if (maxLeaseMs !== null) {
      await assert.rejects(context.claim({ leaseDurationMs: maxLeaseMs + 1 }), refused);
    }
    if (maxDelayMs !== null) {
      const input = { type: "order.placed", availableInMs: maxDelayMs + 1 };
      await assert.rejects(context.enqueue([input]), refused);
    }
    const claim = await context.claimOne({
      ...(maxClaimCount === null ? {} : { maxCount: maxClaimCount }),
      ...(maxLeaseMs === null ? {} : { leaseDurationMs: maxLeaseMs }),
    });
    assertOutcome(await store.releaseClaim(claim), "applied", "a claim at the limits");
  },
};

const keeping: ConformanceCase = {
  id: "contract-keeps-delivered",
  invariant: "contract",
  title: "delivered entries stay readable, or are gone, as declared",
  requires: eitherWay((capabilities) => capabilities.keepsDelivered !== "never"),
  run: async (context) => {
    const entryId = await context.enqueueOne();
    await context.store.markClaimDelivered(await context.claimOne(), { providerMessageId: "m-1" });
    const row = await context.read(entryId);
    assert.equal(row.status, "delivered");
    assert(row.deliveredAt !== null, "and when it was delivered is known");
    const found = await context.store.findByOutboxEntryId?.(entryId);
    if (found !== undefined) assert.equal(found?.providerMessageId, "m-1");
  },
  runNegative: async (context) => {
    const entryId = await context.enqueueOne();
    const delivered = await context.store.markClaimDelivered(await context.claimOne());
    assertOutcome(delivered, "applied", "markClaimDelivered");
    assert.equal(await context.raw.readEntry(entryId), null);
  },
};

const badArguments: ConformanceCase = {
  id: "contract-bad-arguments",
  invariant: "contract",
  title: "bad arguments are refused before anything is stored or stamped",
  requires: always,
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    const before = await context.read(entryId);
    const badRequests = [
      { maxCount: 0 },
      { maxCount: -1 },
      { maxCount: 1.5 },
      { maxCount: Number.NaN },
      { leaseDurationMs: 0 },
      { leaseDurationMs: -1 },
      { leaseDurationMs: Number.POSITIVE_INFINITY },
      { maxBytes: -1 },
      { workerId: "" },
      { now: new Date() },
    ];
    for (const request of badRequests) {
      await assert.rejects(
        context.claim(request),
        { code: "outbox.invalid_argument" },
        `claim with ${JSON.stringify(request)}`,
      );
    }
    assert.deepEqual(await context.read(entryId), before);
    const claim = await context.claimOne();
    const held = await context.read(entryId);
    const badCalls: readonly (() => Promise<unknown>)[] = [
      () => store.markClaimFailed(claim, providerError, { retryInMs: -1 }),
      () => store.markClaimFailed(claim, { code: "x" } as never),
      () => store.releaseClaim(claim, { delayMs: Number.NaN }),
      () => store.saveClaim(claim, { ...claim.entry, status: "delivered" }),
      () => store.extendClaims([claim], { leaseDurationMs: 0 }),
      () => store.completeClaims([{ claim: { ...claim, claimToken: "" }, kind: "delivered" }]),
      () => store.completeClaims([{ claim, kind: "claimed" as never }]),
    ];
    for (const call of badCalls) {
      await assert.rejects(call(), { code: "outbox.invalid_argument" }, String(call));
    }
    assert.deepEqual(await context.read(entryId), held);
  },
};

const savesNoMore: ConformanceCase = {
  id: "contract-save-writes-no-more",
  invariant: "contract",
  title:
    "a saved claim writes status, due time, failures and metadata, and nothing else of the entry",
  requires: always,
  run: async (context) => {
    const entryId = await context.enqueueOne();
    const claim = await context.claimOne();
    const before = await context.read(entryId);
    const saved = await context.store.saveClaim(claim, {
      ...claim.entry,
      status: "deferred",
      metadata: { saved: "yes" },
      destination: "elsewhere",
      envelope: { ...claim.entry.envelope, envelopeId: "another", type: "another", payload: 1 },
      retryCount: 99,
      claimAttemptCount: 99,
      createdAt: new Date(0),
    });
    assertOutcome(saved, "applied", "saveClaim");
    const after = await context.read(entryId);
    assert.equal(after.status, "deferred");
    assert.deepEqual(after.metadata, { saved: "yes" });
    const fixed = ({
      envelopeId,
      destination,
      type,
      payload,
      createdAt,
      retryCount,
      claimAttemptCount,
    }: typeof after) => ({
      envelopeId,
      destination,
      type,
      payload,
      createdAt,
      retryCount,
      claimAttemptCount,
    });
    assert.deepEqual(fixed(after), fixed(before));
  },
};

const closing: ConformanceCase = {
  id: "contract-close",
  invariant: "contract",
  title: "close may be called twice, and what is called after it is refused as closed",
  requires: always,
  run: async (context) => {
    await context.enqueueOne();
    const store = await context.openStore();
    const claim = await context.claimOne({}, store);
    await store.close();
    await store.close();
    await store[Symbol.asyncDispose]();
    for (const transition of claimTransitions) {
      await assert.rejects(transition.apply(store, claim), { code: "outbox.closed" });
    }
    await assert.rejects(store.enqueue({ type: "order.placed" }, { autonomous: true }), {
      code: "outbox.closed",
    });
    assertOutcome(await context.store.releaseClaim(claim), "applied", "other stores go on");
  },
};

const transitionBatches: ConformanceCase = {
  id: "contract-transition-batches",
  invariant: "contract",
  title: "batches longer than the database takes are split, and an entry named twice is no error",
  requires: when(declares("fencing", "enforced")),
  run: async (context) => {
    await context.enqueue(2);
    const [first, second] = (await context.claim()).claims;
    assert(first && second, "there are two");
    const retry = { retryInMs: 600_000 };
    const transitions = await context.store.completeClaims([
      { claim: first, kind: "failed", error: providerError, retry },
      { claim: second, kind: "release" },
      { claim: first, kind: "failed", error: providerError, retry },
      { claim: second, kind: "dead-lettered", error: rejection },
    ]);
    assert.deepEqual(
      transitions.map(({ outcome, replayed }) => [outcome, replayed === true]),
      [
        ["applied", false],
        ["applied", false],
        ["applied", true],
        ["stale-claim", false],
      ],
    );
    assert.equal((await context.read(first.entry.entryId)).retryCount, 1);
  },
};

export const contract: readonly ConformanceCase[] = [
  declared,
  facetsWhole,
  harnessOwes,
  timeMoves,
  claimKinds,
  typeFilter,
  limits,
  keeping,
  badArguments,
  savesNoMore,
  closing,
  transitionBatches,
];
