import assert from "node:assert/strict";
import { assertOutcome } from "../assertions/raw-assertions.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import { canDelay, facet, when } from "../suite/requirements.js";
import { providerError, rejection } from "./claim-transitions.js";

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

/** The optional interfaces of a store, where it has them. */
export const contractFacets: readonly ConformanceCase[] = [
  conditionalSave,
  selectionPath,
  inspection,
  retention,
  schema,
  wakeUp,
];
