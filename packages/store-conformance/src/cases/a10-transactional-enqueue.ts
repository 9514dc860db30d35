import assert from "node:assert/strict";
import type { EnqueueInput } from "@outbox/core";
import { assertUnchanged } from "../assertions/raw-assertions.js";
import type { CallerTransaction, CallerTransactions } from "../harness/caller-transactions.js";
import type { CaseContext } from "../suite/case-context.js";
import type { ConformanceCase } from "../suite/conformance-case.js";
import type { Requirement } from "../suite/requirements.js";
import { always, declares, eitherWay, harnessCan, when } from "../suite/requirements.js";

const transactional = declares("transactionalEnqueue", true);
const uniquePairs = declares("entryUniqueness", "enforced");

const writersAtOnce: Requirement = ({ concurrentTransactions }) =>
  concurrentTransactions
    ? undefined
    : { notRun: "the harness says that two transactions cannot write at once" };

/** A harness owes what its store's capabilities promise. */
function transactionsOf(context: CaseContext): CallerTransactions {
  assert(
    context.transactions,
    "the store declares transactionalEnqueue, so its harness must have `transactions`",
  );
  return context.transactions;
}

const order = (envelopeId: string, payload: unknown = { number: 1 }): EnqueueInput => ({
  type: "order.placed",
  envelopeId,
  payload,
});

/** Ends the transaction whatever happens in it, so that no lock outlives the case. */
async function inTransaction(
  transaction: CallerTransaction,
  work: (tx: unknown) => Promise<void>,
): Promise<void> {
  try {
    await work(transaction.tx);
  } finally {
    await transaction.rollback();
  }
}

const rolledBack: ConformanceCase = {
  id: "A10-rolled-back-is-nothing",
  invariant: "A10",
  title: "of a transaction that is rolled back nothing is left, and the pair is free again",
  requires: eitherWay((capabilities) => capabilities.transactionalEnqueue),
  run: async (context) => {
    const transaction = await transactionsOf(context).begin();
    await inTransaction(transaction, async (tx) => {
      const results = await context.store.enqueue([order("a"), order("b")], { tx });
      assert.deepEqual(
        results.map((result) => result.enqueued),
        [true, true],
      );
      assert.deepEqual(await context.raw.readEntries(), [], "nothing is visible before the commit");
      await transaction.rollback();
    });
    assert.deepEqual(await context.raw.readEntries(), []);
    assert.deepEqual((await context.claim()).claims, []);
    await context.enqueueOne({ envelopeId: "a" });
  },
  runNegative: async (context) => {
    await assert.rejects(
      context.store.enqueue(order("a"), { tx: {} }),
      { code: /^outbox\.(unsupported|invalid_argument)$/ },
      "a store that cannot join a transaction refuses one",
    );
    assert.deepEqual(await context.raw.readEntries(), []);
    await context.store.enqueue(order("a"));
    assert.equal((await context.raw.readEntries()).length, 1, "without one it enqueues at once");
  },
};

const committed: ConformanceCase = {
  id: "A10-committed-is-one-entry-each",
  invariant: "A10",
  title: "a committed transaction leaves each entry once, claimable from then on and not before",
  requires: when(transactional),
  run: async (context) => {
    const transaction = await transactionsOf(context).begin();
    await inTransaction(transaction, async (tx) => {
      await context.store.enqueue(order("a"), { tx });
      await context.store.enqueue([order("b"), order("c")], { tx });
      assert.deepEqual((await context.claim()).claims, [], "nothing to claim before the commit");
      await transaction.commit();
    });
    const rows = await context.raw.readEntries();
    assert.deepEqual(
      rows.map((row) => row.envelopeId),
      ["a", "b", "c"],
    );
    assert.equal((await context.claim()).claims.length, 3);
  },
};

const duplicateInTransaction: ConformanceCase = {
  id: "A10-duplicate-does-not-abort",
  invariant: "A10",
  title:
    "a second enqueue of a pair reports the entry that is there and leaves the transaction usable",
  requires: when(transactional, uniquePairs),
  run: async (context) => {
    const existing = await context.enqueueOne({ envelopeId: "a", entryId: "first-entry" });
    const before = await context.read(existing);
    const transaction = await transactionsOf(context).begin();
    await inTransaction(transaction, async (tx) => {
      const results = await context.store
        .enqueue([order("a", "other payload"), order("b")], { tx })
        .catch((error: unknown) => assert.fail(`the duplicate is refused with ${String(error)}`));
      assert.deepEqual(
        results.map(({ entryId, enqueued }) => [entryId === existing, enqueued]),
        [
          [true, false],
          [false, true],
        ],
      );
      const again = await context.store.enqueue(order("b"), { tx });
      assert.equal(again.enqueued, false, "of a pair that this transaction itself wrote");
      await context.store.enqueue(order("c"), { tx });
      await transaction.commit();
    });
    assertUnchanged(before, await context.read(existing), "a duplicate");
    const rows = await context.raw.readEntries();
    assert.deepEqual(
      rows.map((row) => row.envelopeId),
      ["a", "b", "c"],
    );
  },
};

const duplicateAlone: ConformanceCase = {
  id: "A10-one-entry-per-pair",
  invariant: "A10",
  title:
    "one entry per (envelopeId, destination), also within one call; another destination is another entry",
  requires: when(uniquePairs),
  run: async (context) => {
    const results = await context.enqueue([
      order("a"),
      order("a"),
      { ...order("a"), destination: "billing" },
      order("b"),
      { ...order("a"), destination: "billing" },
    ]);
    assert.deepEqual(
      results.map((result) => result.enqueued),
      [true, false, true, true, false],
    );
    assert.equal(results[0]?.entryId, results[1]?.entryId);
    assert.equal(results[2]?.entryId, results[4]?.entryId);
    assert.notEqual(results[0]?.entryId, results[2]?.entryId);
    const again = await context.enqueue([order("b"), order("c")]);
    assert.deepEqual(
      again.map(({ entryId, enqueued }) => [entryId === results[3]?.entryId, enqueued]),
      [
        [true, false],
        [false, true],
      ],
    );
    assert.deepEqual(
      (await context.raw.readEntries()).map((row) => [row.envelopeId, row.destination]),
      [
        ["a", "default"],
        ["a", "billing"],
        ["b", "default"],
        ["c", "default"],
      ],
    );
  },
};

const lookAlikes: ConformanceCase = {
  id: "A10-look-alike-ids-are-different",
  invariant: "A10",
  title: "ids that differ in case, accents, trailing spaces or normalisation are different ids",
  requires: when(uniquePairs),
  run: async (context) => {
    const ids = ["id", "ID", "id ", " id", "íd", "i\u0301d", "ıd", "id\t", "i-d", "ïd"];
    const results = await context.enqueue(ids.map((id) => order(id)));
    assert.deepEqual(
      results.map((result) => result.enqueued),
      ids.map(() => true),
    );
    assert.deepEqual(
      (await context.raw.readEntries()).map((row) => row.envelopeId),
      ids,
    );
  },
};

/** Two transactions enqueue the same pair; the first ends as told while the second may be waiting. */
async function raceForPair(
  context: CaseContext,
  end: "commit" | "rollback",
): Promise<boolean | undefined> {
  const transactions = transactionsOf(context);
  const first = await transactions.begin();
  const second = await transactions.begin();
  let enqueued: boolean | undefined;
  await inTransaction(first, async (firstTx) => {
    await context.store.enqueue(order("a"), { tx: firstTx });
    await inTransaction(second, async (secondTx) => {
      const other = await context.openStore();
      const waiting = other.enqueue([order("a"), order("b")], { tx: secondTx });
      // The second may have to wait for the first; either way its answer must be right.
      await Promise.race([
        waiting.catch(() => undefined),
        new Promise((resolve) => setTimeout(resolve, 200)),
      ]);
      if (end === "commit") await first.commit();
      else await first.rollback();
      const [result] = await waiting.catch((error: unknown) =>
        assert.fail(`the concurrent duplicate is refused with ${String(error)}`),
      );
      enqueued = result?.enqueued;
      await second.commit();
    });
  });
  assert.deepEqual(
    (await context.raw.readEntries()).map((row) => row.envelopeId).sort(),
    ["a", "b"],
    "one entry per pair",
  );
  return enqueued;
}

const concurrentCommit: ConformanceCase = {
  id: "A10-concurrent-duplicate-commits",
  invariant: "A10",
  title: "of two open transactions that enqueue one pair, the later sees the earlier's commit",
  requires: when(transactional, uniquePairs, writersAtOnce),
  run: async (context) => {
    assert.equal(await raceForPair(context, "commit"), false);
  },
};

const concurrentRollback: ConformanceCase = {
  id: "A10-concurrent-duplicate-rolls-back",
  invariant: "A10",
  title:
    "of two open transactions that enqueue one pair, the later wins when the earlier rolls back",
  requires: when(transactional, uniquePairs, writersAtOnce),
  run: async (context) => {
    assert.equal(await raceForPair(context, "rollback"), true);
  },
};

const isolationLevels: ConformanceCase = {
  id: "A10-isolation-levels",
  invariant: "A10",
  title:
    "enqueue works in a transaction of any isolation level, duplicates of earlier entries included",
  requires: when(transactional, uniquePairs),
  run: async (context) => {
    const transactions = transactionsOf(context);
    await context.enqueueOne({ envelopeId: "existing" });
    for (const isolation of transactions.isolationLevels) {
      const transaction = await transactions.begin({ isolation });
      await inTransaction(transaction, async (tx) => {
        const results = await context.store
          .enqueue([order("existing"), order(isolation)], { tx })
          .catch((error: unknown) => assert.fail(`under ${isolation}: ${String(error)}`));
        assert.deepEqual(
          results.map((result) => result.enqueued),
          [false, true],
          `under ${isolation}`,
        );
        await transaction.commit();
      });
    }
    assert.deepEqual(
      (await context.raw.readEntries()).map((row) => row.envelopeId),
      ["existing", ...transactions.isolationLevels],
    );
  },
};

const concurrentHigher: ConformanceCase = {
  id: "A10-concurrent-duplicate-at-higher-levels",
  invariant: "A10",
  title:
    "above the default level a concurrent duplicate is seen or refused, and never a second entry",
  requires: when(transactional, uniquePairs, writersAtOnce),
  run: async (context) => {
    const transactions = transactionsOf(context);
    for (const isolation of transactions.isolationLevels.slice(1)) {
      const [envelopeId, earlier] = [`concurrent under ${isolation}`, `earlier under ${isolation}`];
      const transaction = await transactions.begin({ isolation });
      await inTransaction(transaction, async (tx) => {
        // Its snapshot is from before the other's commit.
        await context.store.enqueue(order(earlier), { tx });
        await context.enqueueOne({ envelopeId });
        const duplicate = await context.store.enqueue(order(envelopeId), { tx }).catch(() => null);
        if (duplicate === null) return;
        assert.equal(duplicate.enqueued, false, `under ${isolation} it is not enqueued again`);
        // A database may also refuse it as late as here.
        await transaction.commit().catch(() => undefined);
      });
      const rows = await context.raw.readEntries();
      const copies = rows.filter((row) => row.envelopeId === envelopeId);
      assert.equal(copies.length, 1, `one entry per pair under ${isolation}`);
    }
  },
};

const notATransaction: ConformanceCase = {
  id: "A10-not-a-transaction",
  invariant: "A10",
  title:
    "a handle that can be told not to be an open transaction is refused, and nothing is written",
  requires: when(transactional, harnessCan("nonTransactions")),
  run: async (context) => {
    for (const { description, tx } of (await context.nonTransactions?.()) ?? []) {
      await assert.rejects(
        context.store.enqueue(order("a"), { tx }),
        { code: "outbox.not_a_transaction" },
        `refuses ${description}`,
      );
      assert.deepEqual(await context.raw.readEntries(), [], `nothing is written to ${description}`);
    }
  },
};

const endedTransaction: ConformanceCase = {
  id: "A10-ended-transaction",
  invariant: "A10",
  title: "enqueueing into a transaction that has ended fails, and writes nothing",
  requires: when(transactional),
  run: async (context) => {
    for (const end of ["commit", "rollback"] as const) {
      const transaction = await transactionsOf(context).begin();
      await transaction[end]();
      await assert.rejects(
        context.store.enqueue(order("a"), { tx: transaction.tx }),
        `after ${end} it is no transaction any more`,
      );
    }
    assert.deepEqual(await context.raw.readEntries(), []);
  },
};

const mustBeSaid: ConformanceCase = {
  id: "A10-transaction-must-be-said",
  invariant: "A10",
  title:
    "forgetting the transaction is refused; enqueueing without one must be said, and commits at once",
  requires: when(transactional),
  run: async (context) => {
    const refused = [undefined, {}, { tx: undefined }, { tx: null }] as const;
    for (const options of refused) {
      await assert.rejects(context.store.enqueue(order("a"), options as never), {
        code: "outbox.invalid_argument",
      });
    }
    assert.deepEqual(await context.raw.readEntries(), []);
    await context.store.enqueue(order("a"), { autonomous: true });
    assert.equal((await context.raw.readEntries()).length, 1);
  },
};

const allOrNone: ConformanceCase = {
  id: "A10-all-or-none",
  invariant: "A10",
  title: "of several entries in one call, one that is refused keeps all of them out",
  requires: always,
  run: async (context) => {
    const bad = { type: "order.placed", envelopeId: "x".repeat(256) };
    await assert.rejects(context.enqueue([order("a"), bad, order("c")]), {
      code: "outbox.invalid_argument",
    });
    assert.deepEqual(await context.raw.readEntries(), []);
  },
};

const takenId: ConformanceCase = {
  id: "A10-entry-id-of-another",
  invariant: "A10",
  title: "an entryId that belongs to another pair is an error, and the other calls' entries stay",
  requires: when(uniquePairs),
  run: async (context) => {
    const entryId = await context.enqueueOne({ envelopeId: "a", entryId: "mine" });
    const before = await context.read(entryId);
    await assert.rejects(context.enqueue([order("z"), { ...order("b"), entryId: "mine" }]), {
      code: "outbox.entry_id_taken",
    });
    assert.deepEqual(await context.raw.readEntries(), [before], "nothing of the call is written");
  },
};

const uniqueUntilDelivered: ConformanceCase = {
  id: "A10-unique-until-delivered",
  invariant: "A10",
  title: "where delivered entries are deleted, a pair is unique until its delivery",
  requires: when(uniquePairs, declares("keepsDelivered", "option", "never")),
  run: async (context) => {
    const outbox = await context.createOutbox({ onDelivered: "delete" });
    const entryId = await outbox.enqueueOne({ envelopeId: "a" });
    const [again] = await outbox.enqueue([order("a")]);
    assert.equal(again?.enqueued, false);
    const claim = await outbox.claimOne();
    assert.equal((await outbox.store.markClaimDelivered(claim)).outcome, "applied");
    assert.equal(await outbox.raw.readEntry(entryId), null, "the delivered entry is gone");
    assert.equal((await outbox.store.markClaimDelivered(claim)).outcome, "missing");
    await outbox.enqueueOne({ envelopeId: "a" });
  },
};

export const transactionalEnqueue: readonly ConformanceCase[] = [
  rolledBack,
  committed,
  duplicateInTransaction,
  duplicateAlone,
  lookAlikes,
  concurrentCommit,
  concurrentRollback,
  isolationLevels,
  concurrentHigher,
  notATransaction,
  endedTransaction,
  mustBeSaid,
  allOrNone,
  takenId,
  uniqueUntilDelivered,
];
