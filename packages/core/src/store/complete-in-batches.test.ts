import { describe, expect, it, vi } from "vitest";
import type { DriverCompletion, DriverTransition } from "../contract/store-driver.js";
import { testClaim, testEntry } from "../entry/test-entry.js";
import { deliveredWrite, failedWrite } from "../entry/transition-writes.js";
import { completeInBatches } from "./complete-in-batches.js";
import { StoreCalls } from "./store-calls.js";
import { DriverFault, testDriver } from "./test-driver.js";

const at = new Date("2026-03-04T05:30:30.000Z");

function completion(entryId: string, message?: string): DriverCompletion {
  const claim = testClaim(testEntry({ entryId, claimToken: `token of ${entryId}` }));
  const write =
    message === undefined
      ? deliveredWrite(claim.entry)
      : failedWrite(claim.entry, { code: "x", message, isRetryable: true }, null, at);
  return { claim, write };
}

const idsOf = (batch: readonly DriverCompletion[]) => batch.map(({ claim }) => claim.entry.entryId);

/** Refuses a batch in which `isRefused` finds something; applies all others. */
function databaseThatRefuses(
  isRefused: (completion: DriverCompletion) => boolean,
  maxTransitionBatch: number | null = null,
) {
  const applied: DriverCompletion[] = [];
  const complete = vi.fn(
    async (batch: readonly DriverCompletion[]): Promise<readonly DriverTransition[]> => {
      if (batch.some(isRefused)) throw new DriverFault("invalid-data", "cannot store \u0000 or 😀");
      applied.push(...batch);
      return batch.map(() => ({ outcome: "applied", at }));
    },
  );
  const driver = testDriver({ complete, capabilities: { maxTransitionBatch } });
  const run = (completions: readonly DriverCompletion[]) =>
    completeInBatches(driver, new StoreCalls(driver), completions);
  const batches = () => complete.mock.calls.map(([batch]) => idsOf(batch));
  return { run, applied, complete, batches };
}

const hasBadText = ({ write }: DriverCompletion) =>
  write.failures.some(({ message }) => message.startsWith("bad"));

describe("a batch with a value that the database refuses", () => {
  it.each([0, 1, 2, 3, 6])(
    "is finalized whole, with that value replaced (at %i)",
    async (place) => {
      const { run, applied, complete } = databaseThatRefuses(hasBadText);
      const completions = Array.from({ length: 7 }, (_, index) =>
        completion(`entry-${index}`, index === place ? "bad" : "good"),
      );
      const transitions = await run(completions);
      expect(transitions.map(({ outcome, entry }) => [outcome, entry?.entryId])).toEqual(
        completions.map(({ claim }) => ["applied", claim.entry.entryId]),
      );
      expect(applied).toHaveLength(7);
      for (const [index, transition] of transitions.entries()) {
        expect(transition.entry?.failures.at(-1)?.message).toBe(
          index === place
            ? "(text refused by the store: test store: complete failed (invalid-data): cannot store ? or ??)"
            : "good",
        );
      }
      // Halving, not one by one.
      expect(complete.mock.calls.length).toBeLessThanOrEqual(2 + 2 * Math.ceil(Math.log2(7)));
    },
  );

  it("may hold several, and nothing else", async () => {
    const { run, applied } = databaseThatRefuses(hasBadText);
    const transitions = await run(["a", "b", "c"].map((id) => completion(id, `bad ${id}`)));
    expect(transitions.map(({ outcome }) => outcome)).toEqual(["applied", "applied", "applied"]);
    expect(idsOf(applied)).toEqual(["a", "b", "c"]);
  });

  it("fails only after the others are finalized, if the value cannot be replaced", async () => {
    const { run, applied } = databaseThatRefuses(({ claim }) => claim.entry.entryId === "bad", 3);
    const ids = ["a", "bad", "b", "c", "d"];
    await expect(run(ids.map((id) => completion(id)))).rejects.toMatchObject({
      kind: "invalid-data",
    });
    expect(idsOf(applied)).toEqual(["a", "b", "c", "d"]);
  });

  it("is not halved for an error that is not about a value", async () => {
    const complete = vi.fn(async () => {
      throw new DriverFault("permanent");
    });
    const driver = testDriver({ complete });
    const run = completeInBatches(driver, new StoreCalls(driver), [
      completion("a"),
      completion("b"),
    ]);
    await expect(run).rejects.toMatchObject({ kind: "permanent" });
    expect(complete).toHaveBeenCalledTimes(1);
  });
});

describe("batches", () => {
  it("are as long as the driver takes", async () => {
    const { run, batches } = databaseThatRefuses(() => false, 2);
    const transitions = await run(["a", "b", "c", "d", "e"].map((id) => completion(id)));
    expect(batches()).toEqual([["a", "b"], ["c", "d"], ["e"]]);
    expect(transitions.map(({ entry }) => entry?.entryId)).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("never name an entry twice", async () => {
    const { run, batches } = databaseThatRefuses(() => false);
    await run(["a", "b", "a", "a", "c"].map((id) => completion(id)));
    expect(batches()).toEqual([["a", "b"], ["a"], ["a", "c"]]);
  });

  it("are one call where nothing stands against it, and none for nothing", async () => {
    const { run, batches } = databaseThatRefuses(() => false);
    await run([]);
    expect(batches()).toEqual([]);
    await run(Array.from({ length: 5_000 }, (_, index) => completion(`${index}`)));
    expect(batches()).toHaveLength(1);
  });
});

describe("the outcome", () => {
  it("of an applied write has the entry as the write made it, at the store's instant", async () => {
    const { run } = databaseThatRefuses(() => false);
    const [transition] = await run([completion("a")]);
    expect(transition).toEqual({
      outcome: "applied",
      entry: expect.objectContaining({
        status: "delivered",
        deliveredAt: at,
        claimToken: null,
        resolvedClaimToken: "token of a",
      }),
    });
  });

  it.each<[string, DriverTransition, object]>([
    [
      "a replay",
      { outcome: "applied", replayed: true, at, entry: testEntry() },
      { outcome: "applied", replayed: true, entry: testEntry() },
    ],
    ["a stale claim", { outcome: "stale-claim", at }, { outcome: "stale-claim", entry: null }],
    [
      "a terminal entry",
      { outcome: "terminal", at, entry: testEntry() },
      { outcome: "terminal", entry: testEntry() },
    ],
    ["a missing one", { outcome: "missing", at: null }, { outcome: "missing", entry: null }],
  ])("of %s is the driver's", async (_, transition, expected) => {
    const driver = testDriver({ complete: async () => [transition] });
    const result = await completeInBatches(driver, new StoreCalls(driver), [completion("a")]);
    expect(result).toEqual([expected]);
  });

  it("that is missing shows a broken driver", async () => {
    const driver = testDriver({ complete: async () => [] });
    const run = completeInBatches(driver, new StoreCalls(driver), [completion("a")]);
    await expect(run).rejects.toMatchObject({ code: "outbox.broken_driver" });
  });
});
