import { expect, test, vi } from "vitest";
import { sqsError } from "../testing/faults.js";
import { type BatchReply, runBatch, splitIntoCalls } from "./run-batch.js";

const done = (items: readonly unknown[]): BatchReply => ({
  Successful: items.map((_, index) => ({ Id: String(index) })),
});

const failed = (id: number, code: string, senderFault = true) => ({
  Id: String(id),
  Code: code,
  Message: code,
  SenderFault: senderFault,
});

test("splits by count and by bytes; what is too big alone stands alone", () => {
  const items = [4, 4, 4, 20, 1, 1];
  const chunks = splitIntoCalls(items, { bytesOf: (item) => item, maxBytes: 8 });
  expect(chunks).toEqual([[4, 4], [4], [20], [1, 1]]);
  expect(splitIntoCalls(Array(25).fill(0), {}).map((chunk) => chunk.length)).toEqual([10, 10, 5]);
});

test("a member that fails for now is repeated by itself; the others are not", async () => {
  const calls: string[][] = [];
  const results = await runBatch(["a", "b", "c"], {
    operation: "test",
    call: async (items) => {
      calls.push([...items]);
      return calls.length === 1
        ? { Successful: [{ Id: "0" }, { Id: "2" }], Failed: [failed(1, "ThrottlingException")] }
        : done(items);
    },
  });
  expect(calls).toEqual([["a", "b", "c"], ["b"]]);
  expect([...results.values()]).toEqual([{ kind: "done" }, { kind: "done" }, { kind: "done" }]);
});

test("a member that the reply does not mention is repeated", async () => {
  const call = vi.fn(async (items: readonly string[]) =>
    items.length === 2 ? { Successful: [{ Id: "0" }] } : done(items),
  );
  const results = await runBatch(["a", "b"], { operation: "test", call });
  expect(call.mock.calls.map(([items]) => items)).toEqual([["a", "b"], ["b"]]);
  expect(results.get("b")).toEqual({ kind: "done" });
});

test("stale handles and refused values are answers, not reasons to repeat", async () => {
  const call = vi.fn(async () => ({
    Failed: [failed(0, "ReceiptHandleIsInvalid"), failed(1, "InvalidMessageContents")],
  }));
  const results = await runBatch(["a", "b"], { operation: "test", call });
  expect(call).toHaveBeenCalledTimes(1);
  expect(results.get("a")?.kind).toBe("stale");
  expect(results.get("b")?.kind).toBe("refused");
});

test("a member for which the whole call is refused is split off", async () => {
  const results = await runBatch(["a", "b", "poison", "d", "e"], {
    operation: "test",
    call: async (items) => {
      if (items.includes("poison")) throw sqsError("InvalidParameterValue");
      return done(items);
    },
  });
  const kinds = Object.fromEntries([...results].map(([item, { kind }]) => [item, kind]));
  expect(kinds).toEqual({ a: "done", b: "done", poison: "refused", d: "done", e: "done" });
});

test("what is throttled for good is left open after a few tries, with backoff", async () => {
  const call = vi.fn(async () => {
    throw sqsError("RequestThrottled");
  });
  const results = await runBatch(["a"], { operation: "complete", call });
  const result = results.get("a");
  expect(call).toHaveBeenCalledTimes(5);
  expect(result?.kind === "open" && result.error).toMatchObject({
    code: "outbox.store_error",
    kind: "transient",
    operation: "complete",
  });
});

test("what repeating cannot help is not repeated, and says what to do", async () => {
  const call = vi.fn(async () => {
    throw sqsError("AccessDenied", "not authorized", 403);
  });
  const results = await runBatch(["a"], { operation: "complete", call });
  const result = results.get("a");
  expect(call).toHaveBeenCalledTimes(1);
  expect(result?.kind === "open" && result.error.message).toContain("iamPolicies()");
});
