import assert from "node:assert/strict";
import type { StoreCapabilities } from "@outbox/core";
import { assertOutcome } from "../assertions/raw-assertions.js";
import { capabilityValues } from "../suite/capability-values.js";
import { facetMethods } from "../suite/case-subject.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { always, canDelay, declares, eitherWay, facet, when } from "../suite/requirements.js";
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

const conditionalSave: ConformanceCase = {
  id: "contract-save-is-conditional",
  invariant: "contract",
  title: "save writes over what was read, and nothing else: a second save of the same read loses",
  requires: when(facet("selection"), canDelay()),
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    const read = await store.findByOutboxEntryId?.(entryId);
    assert(read, "the entry is found");
    const next = { ...read, status: "deferred" as const, metadata: { by: "first" } };
    assertOutcome(await store.save?.(read, next), "applied", "the first save");
    const after = await context.read(entryId);
    assert.equal(after.status, "deferred");
    const lost = await store.save?.(read, { ...next, metadata: { by: "second" } });
    assertOutcome(lost, "concurrency-lost", "a save over what is not there any more");
    assert.deepEqual(await context.read(entryId), after);
    assertOutcome(
      await store.markDelivered?.("no-such-entry"),
      "missing",
      "markDelivered of no entry",
    );
  },
};

const selectionPath: ConformanceCase = {
  id: "contract-selection-path",
  invariant: "contract",
  title: "without claims an entry is found, failed, found again and delivered",
  requires: when(facet("selection")),
  passesLeases: 1,
  run: async (context) => {
    const { store } = context;
    const ids = (await context.enqueue(3)).map((result) => result.entryId);
    const idsOf = (entries: readonly { readonly entryId: string }[] | undefined) =>
      entries?.map((entry) => entry.entryId);
    assert.deepEqual(idsOf(await store.findPending?.({ maxCount: 2 })), ids.slice(0, 2));
    const [first = "", second = "", third = ""] = ids;
    assertOutcome(
      await store.markFailed?.(first, providerError, { retryInMs: 0 }),
      "applied",
      "markFailed",
    );
    // A store may let `updatedAt` run ahead of its clock by a step, to tell two saves apart.
    await context.time.advance(context.marginMs);
    assert.deepEqual(idsOf(await store.findPending?.()), [second, third]);
    assert.deepEqual(idsOf(await store.findRetryReady?.()), [first]);
    assertOutcome(await store.markDelivered?.(first), "applied", "markDelivered");
    assertOutcome(await store.markDeadLettered?.(second, rejection), "applied", "markDeadLettered");
    assertOutcome(await store.markFailed?.(third, rejection), "applied", "markFailed");
    const rows = await context.raw.readEntries();
    const statuses = rows.map((row) => row.status).filter((status) => status !== "delivered");
    assert.deepEqual(statuses, ["dead-lettered", "failed"]);
    for (const row of rows) assert.equal(row.claimAttemptCount, 0, "no claim was taken");
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

const inspection: ConformanceCase = {
  id: "contract-inspection",
  invariant: "contract",
  title: "list, show and stats tell what is there and change nothing",
  requires: when(facet("inspection")),
  passesLeases: 1,
  run: async (context) => {
    const { store } = context;
    await context.enqueue(2);
    await context.claim({ workerId: "crashed" });
    await context.expireLeases();
    const [dead] = await context.enqueue([{ type: "mail.sent" }]);
    assert(dead, "an entry is enqueued");
    const { claims } = await context
      .claim({ workerId: "holder", types: ["mail.*"] })
      .catch(() => context.claim({ workerId: "holder" }));
    const mail = claims.find(({ entry }) => entry.entryId === dead.entryId);
    assert(mail, "the entry is claimed");
    await store.markClaimDeadLettered(mail, rejection);
    await context.enqueue(1);
    await context.enqueue([{ type: "order.placed", availableInMs: 0 }]);
    const before = await context.raw.readEntries();

    const pages: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.list?.({ all: true }, { maxCount: 2, ...(after && { after }) });
      assert(page, "a page is listed");
      pages.push(...page.entries.map((entry) => entry.entryId));
      after = page.cursor;
    } while (after !== undefined && pages.length <= before.length);
    assert.deepEqual(
      pages,
      before.map((row) => row.entryId),
      "every entry once, in sequence, page by page",
    );
    const listed = await store.list?.({ statuses: ["dead-lettered"] });
    assert.deepEqual(
      listed?.entries.map((entry) => entry.entryId),
      [dead.entryId],
    );
    assert.equal((await store.show?.(dead.entryId))?.deadLetterReason, rejection.code);
    assert.equal(await store.show?.("no-such-entry"), null);
    await assert.rejects(async () => store.list?.({}), { code: "outbox.invalid_argument" });

    const stats = await store.stats?.({ exact: true });
    assert.equal(stats?.byStatus["dead-lettered"], 1);
    assert.equal(stats?.byStatus.pending, 4);
    assert.equal((stats?.leased ?? 0) + (stats?.ready ?? 0), 4);
    assert.deepEqual(await context.raw.readEntries(), before);
  },
};

const retention: ConformanceCase = {
  id: "contract-retention",
  invariant: "contract",
  title: "purge deletes terminal entries of an age, and nothing else",
  requires: when(facet("retention")),
  passesLeases: 1,
  run: async (context) => {
    const { store } = context;
    const deadLetter = async () => {
      const entryId = await context.enqueueOne();
      await store.markClaimDeadLettered(await context.claimOne(), rejection);
      return entryId;
    };
    const old = await deadLetter();
    await context.time.advance(context.leaseMs);
    const young = await deadLetter();
    const parked = await context.enqueueOne();
    await store.markClaimFailed(await context.claimOne(), rejection);
    const waiting = await context.enqueueOne();
    const options = { status: "dead-lettered", olderThanMs: context.leaseMs / 2 } as const;
    assert.deepEqual(await store.purge?.({ ...options, dryRun: true }), { count: 1 });
    assert.deepEqual(await store.purge?.({ ...options, status: "delivered" }), { count: 0 });
    assert.equal((await context.raw.readEntries()).length, 4);
    assert.deepEqual(await store.purge?.(options), { count: 1 });
    assert.deepEqual(
      (await context.raw.readEntries()).map((row) => row.entryId),
      [young, parked, waiting],
    );
    assert.equal(await context.raw.readEntry(old), null);
  },
};

const schema: ConformanceCase = {
  id: "contract-schema",
  invariant: "contract",
  title:
    "a migrated schema is found in order, migrating again changes nothing, and the SQL can be printed",
  requires: when(facet("schema")),
  run: async (context) => {
    const { store } = context;
    const entryId = await context.enqueueOne();
    const before = await context.read(entryId);
    const report = await store.checkSchema?.();
    assert.deepEqual(report?.problems, []);
    assert.equal(report?.ok, true);
    assert.equal(report?.version, report?.expectedVersion);
    const other = await context.openStore();
    const again = await Promise.all([store.migrate?.(), other.migrate?.()]);
    for (const migration of again) assert.equal(migration?.from, migration?.to);
    assert.deepEqual(await context.read(entryId), before);
    assert((store.migrationSql?.() ?? "").length > 0, "a fresh database's SQL is printed");
  },
};

const wakeUp: ConformanceCase = {
  id: "contract-wake-up",
  invariant: "contract",
  title: "a subscriber is woken by an enqueue of another store, and not after it closed",
  requires: when(facet("wakeUp")),
  run: async (context) => {
    const other = await context.openStore();
    let wakeUps = 0;
    const subscription = await context.store.subscribe?.({ onWakeUp: () => void wakeUps++ });
    const deadline = performance.now() + 5_000;
    while (wakeUps === 0 && performance.now() < deadline) {
      await other.enqueue({ type: "order.placed" }, { autonomous: true });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert(wakeUps > 0, "woken within five seconds");
    await subscription?.close();
    const seen = wakeUps;
    await other.enqueue({ type: "order.placed" }, { autonomous: true });
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(wakeUps, seen, "silent after close");
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
  conditionalSave,
  savesNoMore,
  selectionPath,
  inspection,
  retention,
  schema,
  wakeUp,
  closing,
  transitionBatches,
];
