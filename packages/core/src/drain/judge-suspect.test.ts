import { expect, it } from "vitest";
import type { OutboxClaim } from "../contract/outbox-claim.js";
import { createMemoryStore } from "../memory/create-memory-store.js";
import { MemoryOutbox } from "../memory/memory-outbox.js";
import { SuspectJudge } from "./judge-suspect.js";

const leaseMs = 10_000;
const at = (seconds: number) => new Date(seconds * 1_000);

/** A claim of an entry that was due since `dueAt`: the end of its last lease. */
function claim(soloAbandonedCount: number, dueAt: Date): OutboxClaim {
  const counters = { soloAbandonedCount, abandonedClaimCount: soloAbandonedCount + 2 };
  const entry = { entryId: "poison", ...counters } as OutboxClaim["entry"];
  return { entry, dueAt, claimedAt: dueAt } as OutboxClaim;
}

it("emits a suspect until it was abandoned alone three times", async () => {
  const judge = new SuspectJudge({}, leaseMs);
  judge.noteDelivery(at(100));
  const verdicts = [0, 1, 2].map((count) => judge.judge(claim(count, at(100))));
  expect(await Promise.all(verdicts)).toEqual(["emit", "emit", "emit"]);
});

it("dead-letters it if this process delivered something since it was first abandoned", async () => {
  const judge = new SuspectJudge({}, leaseMs);
  judge.noteDelivery(at(50));
  expect(await judge.judge(claim(3, at(100)))).toBe("dead-letter");
});

it("lets it wait if nothing was delivered, or only before", async () => {
  const judge = new SuspectJudge({}, leaseMs);
  expect(await judge.judge(claim(3, at(100)))).toBe("wait");
  judge.noteDelivery(at(49));
  expect(await judge.judge(claim(3, at(100)))).toBe("wait");
});

it("takes the store's word for what was delivered before this process began", async () => {
  let now = 70_000;
  const store = createMemoryStore({ outbox: new MemoryOutbox(() => now) });
  const judge = new SuspectJudge(store, leaseMs);
  await store.enqueue({ type: "a" });
  expect(await judge.judge(claim(3, at(100)))).toBe("wait");
  now = 80_000;
  const { claims } = await store.claim({ workerId: "w" });
  for (const one of claims) await store.markClaimDelivered(one);
  expect(await judge.judge(claim(3, at(100)))).toBe("dead-letter");
  expect(await judge.judge(claim(3, at(200)))).toBe("wait");
});
