import { expect, test } from "vitest";
import { ClaimedMessages } from "./claimed-messages.js";
import { claimTokenOf, type ReceivedEntry } from "./received-message.js";

function received(receiptHandle: string, leasedAtMs: number): ReceivedEntry {
  return {
    messageId: receiptHandle,
    receiptHandle,
    sentAtMs: 0,
    receiveCount: 1,
    groupId: null,
    leasedAtMs,
    leaseDurationMs: 1_000,
    // Only its generation is looked at here.
    snapshot: { generation: 1 } as ReceivedEntry["snapshot"],
  };
}

test("forgets what nobody finished within its lease, and keeps what was renewed", () => {
  const claimed = new ClaimedMessages();
  const [lost, renewed, fresh] = [
    received("lost", 0),
    received("renewed", 0),
    received("fresh", 900),
  ];
  for (const one of [lost, renewed, fresh]) claimed.add(one);
  claimed.renewed(claimTokenOf(renewed), 5_000);
  claimed.prune(1_000);
  expect(claimed.get(claimTokenOf(lost))).toBeUndefined();
  expect(claimed.get(claimTokenOf(renewed))).toBe(renewed);
  expect(claimed.get(claimTokenOf(fresh))).toBe(fresh);
  claimed.delete(claimTokenOf(fresh));
  expect(claimed.size).toBe(1);
});
