import { expect, test } from "vitest";
import { claimTokenOf, type ReceivedEntry } from "../received-message.js";
import { GroupHold } from "./group-hold.js";

function received(groupId: string, name: string, leasedAtMs = 0): ReceivedEntry {
  return {
    messageId: name,
    receiptHandle: name,
    sentAtMs: 0,
    receiveCount: 1,
    groupId,
    leasedAtMs,
    leaseDurationMs: 60_000,
    // Only its generation is looked at here.
    snapshot: { generation: 1 } as ReceivedEntry["snapshot"],
  };
}

const names = (entries: readonly ReceivedEntry[]) => entries.map(({ messageId }) => messageId);
const token = (name: string) => claimTokenOf(received("", name));

test("hands out one member of each group, and the next once it has left the queue", () => {
  const hold = new GroupHold();
  hold.add([received("a", "a1"), received("a", "a2"), received("b", "b1"), received("a", "a3")]);
  expect(names(hold.takeReady(10))).toEqual(["a1", "b1"]);
  expect(names(hold.takeReady(10))).toEqual([]);
  hold.advance("a", token("a1"));
  expect(names(hold.takeReady(10))).toEqual(["a2"]);
  expect(hold.size).toBe(1);
});

test("gives back the later members when the head stays in the queue", () => {
  const hold = new GroupHold();
  hold.add([received("a", "a1"), received("a", "a2"), received("a", "a3")]);
  hold.takeReady(1);
  expect(names(hold.drop("a", token("a1")))).toEqual(["a2", "a3"]);
  expect(hold.size).toBe(0);
});

test("an earlier holder's late news changes nothing", () => {
  const hold = new GroupHold();
  hold.add([received("a", "a1"), received("a", "a2")]);
  hold.takeReady(1);
  hold.advance("a", token("other"));
  expect(names(hold.drop("a", token("other")))).toEqual([]);
  expect(names(hold.takeReady(10))).toEqual([]);
});

test("a group that SQS hands out again was taken from us meanwhile", () => {
  const hold = new GroupHold();
  hold.add([received("a", "a1"), received("a", "a2")]);
  hold.takeReady(1);
  hold.add([received("a", "a1-again")]);
  expect(names(hold.takeReady(10))).toEqual(["a1-again"]);
  expect(hold.size).toBe(0);
});

test("forgets what expired, also behind a head that expired", () => {
  const hold = new GroupHold();
  hold.add([received("a", "a1"), received("a", "a2"), received("b", "b1", 30_000)]);
  hold.takeReady(1);
  hold.renewed("a", token("a2"), 50_000, 60_000);
  hold.prune(61_000);
  expect(names(hold.takeReady(10))).toEqual(["b1"]);
  expect(hold.size).toBe(0);
});

test("members behind a head are renewed with it", () => {
  const hold = new GroupHold();
  hold.add([received("a", "a1"), received("a", "a2")]);
  hold.takeReady(1);
  expect(names(hold.behind([{ groupId: "a", token: token("a1") }]))).toEqual(["a2"]);
  hold.renewed("a", token("a1"), 50_000, 60_000);
  hold.renewed("a", token("a2"), 50_000, 60_000);
  hold.prune(100_000);
  hold.advance("a", token("a1"));
  expect(names(hold.takeReady(1))).toEqual(["a2"]);
});

test("who waits for a member is woken when one becomes ready", async () => {
  const hold = new GroupHold();
  hold.add([received("a", "a1"), received("a", "a2")]);
  hold.takeReady(1);
  const woken = hold.whenReady();
  hold.advance("a", token("a1"));
  await expect(woken).resolves.toBeUndefined();
});
