import { expect, test } from "vitest";
import type { OutboxEntry } from "../contract/outbox-entry.js";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { decideCompletion } from "./decide-completion.js";
import { drainWithTiming } from "./drain.js";
import { drainDefaults } from "./drain-options.js";

type Policy = Parameters<typeof decideCompletion>[2];

const hour = 60 * 60 * 1_000;
const now = Date.UTC(2026, 0, 2);
const error = { code: "http.503", message: "unavailable", isRetryable: true };
const failure = { status: "retryable-failure", error } as const;

async function entryWith(changes: Partial<OutboxEntry> = {}): Promise<OutboxEntry> {
  const world = new DrainWorld();
  await world.enqueue(1);
  return { ...world.entry("e1"), ...changes };
}

async function decide(
  policy: Partial<Policy> = {},
  changes: Partial<OutboxEntry> = {},
  result: Parameters<typeof decideCompletion>[0] = failure,
) {
  const complete = { ...drainDefaults, retryForMs: null, retryDelay: null, ...policy };
  return decideCompletion(result, await entryWith(changes), complete, now);
}

async function delayMs(...given: Parameters<typeof decide>): Promise<number> {
  const decision = await decide(...given);
  if (decision.kind !== "failed") throw new Error(`decided ${decision.kind}`);
  return decision.retry?.retryInMs ?? Number.NaN;
}

test("delays lie between retryDelayMs and its random part's bound, which doubles", async () => {
  for (let retryCount = 0; retryCount < 19; retryCount++) {
    const most = 1_000 + Math.min(600_000, 1_000 * 2 ** retryCount);
    for (let round = 0; round < 20; round++) {
      const delay = await delayMs({}, { retryCount });
      expect(delay).toBeGreaterThanOrEqual(1_000);
      expect(delay).toBeLessThanOrEqual(most);
    }
  }
});

test("the 20th failure dead-letters, with its reason", async () => {
  expect(await decide({}, { retryCount: 18 })).toMatchObject({ kind: "failed" });
  expect(await decide({}, { retryCount: 19 })).toMatchObject({
    kind: "dead-lettered",
    reason: "outbox.max_retry_attempts_exceeded",
    error,
  });
});

test("or parks, if so wished", async () => {
  const decision = await decide({ deadLetterOnMaxRetryAttempts: false }, { retryCount: 19 });
  expect(decision).toMatchObject({ kind: "failed", error: { isRetryable: false } });
  expect(decision).not.toHaveProperty("retry");
});

test("a provider's retryAfter wins over everything, up to 24 hours", async () => {
  const policy = { retryDelay: () => 5 };
  expect(await delayMs(policy, {}, { ...failure, retryAfterMs: 7_000 })).toBe(7_000);
  expect(await delayMs(policy, {}, { ...failure, retryAfterMs: 0 })).toBe(0);
  expect(await delayMs(policy, {}, { ...failure, retryAfterMs: 90 * hour })).toBe(24 * hour);
  expect(await decide({}, {}, { status: "deferred", retryAfterMs: 90 * hour })).toMatchObject({
    retryInMs: 24 * hour,
  });
});

test("the bound is on the provider's word, not on the operator's options", async () => {
  expect(await delayMs({ retryDelay: () => 48 * hour })).toBe(48 * hour);
  expect(await delayMs({ retryDelayMs: 48 * hour, maxRetryDelayMs: 0 })).toBe(48 * hour);
  expect(await decide({ deferredDelayMs: 48 * hour }, {}, { status: "deferred" })).toMatchObject({
    retryInMs: 48 * hour,
  });
});

test("a custom delay gets the failure; nonsense and exceptions fall back to the default", async () => {
  const seen: unknown[] = [];
  const retryDelay = (given: unknown) => {
    seen.push(given);
    return 42;
  };
  expect(await delayMs({ retryDelay }, { retryCount: 2 })).toBe(42);
  expect(seen).toMatchObject([{ failures: 3, error, entry: { entryId: "e1" } }]);
  const thrower = () => {
    throw new Error("no");
  };
  const nonsense = [() => Number.NaN, () => -1, () => Infinity, () => "5", () => null, thrower];
  for (const broken of nonsense) {
    const delay = await delayMs({ retryDelay: broken as never });
    expect(delay).toBeGreaterThanOrEqual(1_000);
    expect(delay).toBeLessThanOrEqual(2_000);
  }
});

test("retryForMs replaces the count, by the store's clock", async () => {
  const policy = { retryForMs: hour };
  const createdAt = new Date(now - 2 * hour);
  const early = { createdAt, retryCount: 500, claimedAt: new Date(now - 1.5 * hour) };
  expect(await decide(policy, early)).toMatchObject({ kind: "failed" });
  const late = { createdAt, retryCount: 0, claimedAt: new Date(now - hour) };
  expect(await decide(policy, late)).toMatchObject({ kind: "dead-lettered" });
});

test("retryForMs counts from the later of creation, availability and redrive", async () => {
  const policy = { retryForMs: hour };
  const claimedAt = new Date(now);
  const old = new Date(now - 100 * hour);
  const recent = new Date(now - hour / 2);
  const lastRedrive = { at: recent, by: null, reason: null };
  for (const changes of [
    // A wish that lay in the past already does not use up the time.
    { createdAt: recent, availableAt: old },
    { createdAt: old, availableAt: recent },
    { createdAt: old, lastRedrive },
  ]) {
    expect(await decide(policy, { ...changes, claimedAt })).toMatchObject({ kind: "failed" });
  }
  expect(await decide(policy, { createdAt: old, claimedAt })).toMatchObject({
    kind: "dead-lettered",
  });
});

test("an entry that always fails is emitted 20 times and then dead-lettered", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const attempts: number[] = [];
  world.emitter.behave = ({ context }) => {
    attempts.push(context.attempt);
    throw new Error("no");
  };
  const { store, emitter, timing } = world;
  while (world.entry("e1").status !== "dead-lettered" && attempts.length < 30) {
    await timing.during(drainWithTiming({ store, emitter }, timing));
    await timing.advance(60_000);
  }
  expect(attempts).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(world.entry("e1")).toMatchObject({
    status: "dead-lettered",
    retryCount: 20,
    deadLetterReason: "outbox.max_retry_attempts_exceeded",
  });
});

test("deferring, giving back and pending, however often, count nothing", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  const { store, emitter, timing } = world;
  let round = 0;
  world.emitter.behave = () => (round % 2 === 0 ? { status: "deferred" } : { status: "pending" });
  for (round = 0; round < 50; round++) {
    await timing.during(drainWithTiming({ store, emitter }, timing));
    await timing.advance(61_000);
  }
  expect(world.entry("e1")).toMatchObject({ retryCount: 0, failures: [], abandonedClaimCount: 0 });
  expect(world.entry("e1").claimAttemptCount).toBe(50);
});
