import { expect, test } from "vitest";
import { messageDeduplicationId, messageGroupId, parkedGroupId } from "./fifo-id.js";

const carriable = /^[!-~]{1,128}$/;

test("a key that SQS can carry stays readable", () => {
  expect(messageGroupId("order-1", "default", "e-1")).toBe("default@order-1");
});

test.each([
  ["spaces", "order 1"],
  ["letters beyond ASCII", "bestellung-ä"],
  ["too many characters", "x".repeat(255)],
])("a key with %s is hashed", (_what, key) => {
  const id = messageGroupId(key, "default", "e-1");
  expect(id).toMatch(/^sha256-[0-9a-f]{64}$/);
  expect(messageGroupId(key, "default", "e-2")).toBe(id);
});

test("different keys, destinations and entries are different groups", () => {
  const ids = [
    messageGroupId("b", "a", "e"),
    messageGroupId("a@b", "default", "e"),
    messageGroupId("b", "default@a", "e"),
    messageGroupId("b", "entry:a", "e"),
    messageGroupId(null, "default", "a@b"),
    messageGroupId(null, "default", "e-2"),
    messageGroupId("sha256-x", "default", "e"),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of [...ids, parkedGroupId("ä".repeat(255))]) expect(id).toMatch(carriable);
});

test("each send of an entry has its own deduplication id, and a repeated one the same", () => {
  expect(messageDeduplicationId("e-1", 1)).toBe(messageDeduplicationId("e-1", 1));
  const ids = [
    messageDeduplicationId("e-1", 1),
    messageDeduplicationId("e-1", 2),
    messageDeduplicationId("e-2", 1),
    messageDeduplicationId("ä".repeat(255), 1),
    messageDeduplicationId("ä".repeat(255), 2),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(carriable);
});
