import { expect, it } from "vitest";
import type { OutboxClaim } from "../contract/outbox-claim.js";
import { SuspectJudge } from "./judge-suspect.js";

const at = (seconds: number) => new Date(seconds * 1_000);

/** A claim of an entry whose earlier lease ended, or that was released, at `dueAt`. */
function claim(soloAbandonedCount: number, dueAt: Date, entryId = "poison"): OutboxClaim {
  const entry = { entryId, soloAbandonedCount } as OutboxClaim["entry"];
  return { entry, dueAt, claimedAt: dueAt } as OutboxClaim;
}

it("emits a suspect until it was abandoned alone three times", () => {
  const judge = new SuspectJudge();
  judge.noteDelivery(at(100));
  expect([0, 1, 2].map((count) => judge.judge(claim(count, at(50))))).toEqual([
    "emit",
    "emit",
    "emit",
  ]);
});

it("dead-letters it if something was delivered since its last crash", () => {
  const judge = new SuspectJudge();
  judge.noteDelivery(at(60));
  expect(judge.judge(claim(3, at(50)))).toBe("dead-letter");
});

it("lets it wait if nothing was: the process may be what is sick", () => {
  const judge = new SuspectJudge();
  expect(judge.judge(claim(3, at(50)))).toBe("wait");
  judge.noteDelivery(at(49));
  expect(judge.judge(claim(3, at(50)))).toBe("wait");
});

it("remembers the crash while the entry waits and its due time moves on", () => {
  const judge = new SuspectJudge();
  judge.judge(claim(3, at(50)));
  judge.noteDelivery(at(60));
  expect(judge.judge(claim(3, at(80)))).toBe("dead-letter");
});

it("does not take a delivery before a further crash for one since", () => {
  const judge = new SuspectJudge();
  judge.judge(claim(3, at(50)));
  judge.noteDelivery(at(60));
  expect(judge.judge(claim(4, at(80)))).toBe("wait");
});
