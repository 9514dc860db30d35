import { drain, type OutboxClaim } from "@outbox/core";
import { describe, expect, test } from "vitest";
import { applyThenTimeOut, failMembers, sqsError, throwing } from "./testing/faults.js";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();
const fifo = { fifo: true } as const;

const unavailable = { code: "http.503", message: "unavailable", isRetryable: true };
const rejected = { code: "http.422", message: "rejected", isRetryable: false };
const minute = 60_000;
const hour = 60 * minute;

const keyed = (orderingKey: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ type: "order.placed", orderingKey, payload: { n } }));

const numbers = (claims: readonly OutboxClaim[]) =>
  claims.map(({ entry }) => (entry.envelope.payload as { n: number }).n);

describe("order per key", () => {
  test("one member of a group is claimed at a time, in the order in which they were sent", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue(keyed("a", 12));
    const seen: number[] = [];
    for (let round = 0; round < 12; round++) {
      const claim = await outbox.claimOne();
      seen.push(...numbers([claim]));
      await outbox.store.markClaimDelivered(claim);
    }
    expect(seen).toEqual(Array.from({ length: 12 }, (_, n) => n));
    expect(await outbox.pending()).toEqual([]);
  });

  test("a claim does not take an earlier claim's receive, of a locked group, for an empty queue", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue(keyed("a", 12));
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    for (let n = 0; n < 10; n++) {
      const claim = await outbox.claimOne();
      // The receive that goes on while the last of the first ten is in hand finds its group locked.
      if (n === 8) {
        outbox.faults.next("ReceiveMessageCommand", async (_, proceed) => {
          const output = await proceed();
          await held;
          return output;
        });
      }
      await outbox.store.markClaimDelivered(claim);
    }
    const claiming = outbox.claimOne();
    letThrough();
    expect(numbers([await claiming])).toEqual([10]);
  });

  test("when the head of a group fails, later members of the same receive are released unemitted", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue(keyed("a", 5));
    const head = await outbox.claimOne();
    const states = async () => (await outbox.pending()).map(({ state }) => state).sort();
    expect(await states()).toEqual(Array(5).fill("in-flight"));
    await outbox.store.markClaimFailed(head, unavailable, { retryInMs: 10_000 });
    expect(await states()).toEqual(["in-flight", "ready", "ready", "ready", "ready"]);
    // The head waits in its place, and its group with it, for any worker.
    expect(await outbox.claim()).toEqual([]);
    const { claims } = await outbox.openStore().store.claim({ workerId: "other" });
    expect(claims).toEqual([]);
    await outbox.sqs.advance(11_000);
    expect(numbers(await outbox.claim())).toEqual([0]);
  });

  test("a parked or dead-lettered head holds nobody back", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue(keyed("a", 3));
    await outbox.store.markClaimFailed(await outbox.claimOne(), rejected);
    const second = await outbox.claimOne();
    expect(numbers([second])).toEqual([1]);
    await outbox.store.markClaimDeadLettered(second, rejected);
    expect(numbers(await outbox.claim())).toEqual([2]);
    expect(await outbox.deadLetter()).toHaveLength(2);
  });

  test("a drain keeps the order of every key while some emissions fail and some are slow", async () => {
    await using outbox = await openOutbox(server(), fifo);
    const keys = ["a", "b", "c", "d"];
    await outbox.store.enqueue(keys.flatMap((key) => keyed(key, 15)));
    const emitted = new Map<string, number[]>(keys.map((key) => [key, []]));
    const failedOnce = new Set<string>();
    let emitting = new Set<string>();
    await drain({
      store: outbox.store,
      retryDelayMs: 1,
      maxRetryDelayMs: 0,
      emitter: async ({ payload }, { entry }) => {
        const key = entry.orderingKey ?? "";
        const { n } = payload as { n: number };
        expect(emitting.has(key), `two members of ${key} at once`).toBe(false);
        emitting = new Set([...emitting, key]);
        await new Promise((resolve) => setTimeout(resolve, n % 3));
        emitting.delete(key);
        if (n % 7 === 3 && !failedOnce.has(`${key}${n}`)) {
          failedOnce.add(`${key}${n}`);
          throw new Error("not now");
        }
        emitted.get(key)?.push(n);
      },
    });
    // A retry waits a second at least, longer than a drain that finds nothing else.
    for (let round = 0; round < 40 && (await outbox.pending()).length > 0; round++) {
      await outbox.sqs.advance(2_000);
      await drain({
        store: outbox.store,
        emitter: async ({ payload }, { entry }) => {
          emitted.get(entry.orderingKey ?? "")?.push((payload as { n: number }).n);
        },
      });
    }
    for (const key of keys) {
      expect(emitted.get(key), key).toEqual(Array.from({ length: 15 }, (_, n) => n));
    }
  });

  test("enqueued in one call, a failed send keeps what follows it in its group from overtaking", async () => {
    await using outbox = await openOutbox(server(), fifo);
    outbox.faults.always(
      "SendMessageBatchCommand",
      failMembers("AccessDenied", ({ MessageBody }) => MessageBody?.includes('"n":1}') === true),
    );
    const entries = [...keyed("a", 4), ...keyed("b", 1)];
    await expect(outbox.store.enqueue(entries)).rejects.toMatchObject({
      code: "outbox.store_error",
      message: expect.stringContaining("3 of 5 entries were not"),
    });
    const keys = (await outbox.pending()).map(({ snapshot }) => snapshot?.entry.orderingKey);
    expect(keys.sort()).toEqual(["a", "b"]);
  });

  test("the leases of members that wait are renewed with their head's", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue(keyed("a", 3));
    const head = await outbox.claimOne();
    outbox.faults.forgetCalls();
    await outbox.store.extendClaims([head], { leaseDurationMs: 90_000 });
    const [renewal] = outbox.faults.inputs("ChangeMessageVisibilityBatchCommand");
    expect(renewal?.Entries?.map(({ VisibilityTimeout }) => VisibilityTimeout)).toEqual([
      90, 90, 90,
    ]);
  });
});

describe("deduplication for five minutes", () => {
  test("the same envelope enqueued twice is one message", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue({ type: "order.placed", envelopeId: "v-1" });
    await outbox.store.enqueue({ type: "order.placed", envelopeId: "v-1" });
    expect(await outbox.pending()).toHaveLength(1);
  });

  test("a send whose reply was lost is repeated as the same send", async () => {
    await using outbox = await openOutbox(server(), fifo);
    outbox.faults.next("SendMessageBatchCommand", applyThenTimeOut);
    await outbox.store.enqueue({ type: "order.placed" });
    expect(outbox.faults.count("SendMessageBatchCommand")).toBe(2);
    expect(await outbox.pending()).toHaveLength(1);
  });

  test("dead-lettered and redriven twice within five minutes, nothing is lost", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue({ type: "order.placed", orderingKey: "a" });
    for (let round = 1; round <= 2; round++) {
      const claim = await outbox.claimOne();
      await outbox.store.markClaimDeadLettered(claim, rejected);
      expect(await outbox.pending(), `round ${round}`).toEqual([]);
      expect(await outbox.deadLetter(), `round ${round}`).toHaveLength(1);
      expect(await outbox.store.redrive({ all: true })).toEqual({ count: 1 });
      expect(await outbox.deadLetter(), `round ${round}`).toEqual([]);
      expect(await outbox.pending(), `round ${round}`).toHaveLength(1);
    }
    const claim = await outbox.claimOne();
    expect(claim.entry.claimAttemptCount).toBe(3);
    const ids = outbox.faults
      .inputs("SendMessageBatchCommand")
      .flatMap(({ Entries = [] }) => Entries.map((entry) => entry.MessageDeduplicationId));
    expect(new Set(ids).size).toBe(5);
  });
});

describe("a message that keeps its place", () => {
  test("a failure is remembered by the worker that saw it, and unknown to another", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue({ type: "order.placed", orderingKey: "a" });
    for (let round = 0; round < 3; round++) {
      const claim = await outbox.claimOne();
      expect(claim.entry.retryCount).toBe(round);
      await outbox.store.markClaimFailed(claim, unavailable, { retryInMs: 0 });
    }
    const claim = await outbox.claimOne();
    expect(claim.entry).toMatchObject({
      status: "retryable-failure",
      retryCount: 3,
      claimAttemptCount: 4,
      failures: [unavailable, unavailable, unavailable].map(({ code }) => ({ code })),
    });
    await outbox.store.releaseClaim(claim);
    const other = await outbox.openStore().store.claim({ workerId: "other" });
    expect(other.claims[0]?.entry).toMatchObject({ status: "pending", retryCount: 0 });
    expect(other.claims[0]?.entry.claimAttemptCount).toBe(5);
  });

  test("what the worker remembers goes with the entry when it is dead-lettered", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue({ type: "order.placed" });
    await outbox.store.markClaimFailed(await outbox.claimOne(), unavailable, { retryInMs: 0 });
    await outbox.store.markClaimDeadLettered(await outbox.claimOne(), rejected);
    const [dead] = await outbox.deadLetter();
    expect(dead?.snapshot?.entry).toMatchObject({ retryCount: 2, claimAttemptCount: 2 });
  });

  test("near the end of its retention it is dead-lettered, because nothing else would keep it", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue({ type: "order.placed", orderingKey: "a" });
    await outbox.sqs.advance(12.9 * 24 * hour);
    await outbox.store.releaseClaim(await outbox.claimOne());
    await outbox.sqs.advance(0.2 * 24 * hour);
    expect(await outbox.claim()).toEqual([]);
    expect(await outbox.pending()).toEqual([]);
    const [dead] = await outbox.deadLetter();
    expect(dead?.snapshot?.entry).toMatchObject({
      status: "dead-lettered",
      deadLetterReason: "outbox.retention_near",
    });
  });

  test("it cannot be delayed: an instant in the future is refused, one in the past is not", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await expect(
      outbox.store.enqueue({ type: "order.placed", availableInMs: 1 }),
    ).rejects.toMatchObject({ code: "outbox.invalid_argument" });
    const availableAt = new Date(Date.now() + hour);
    await expect(outbox.store.enqueue({ type: "order.placed", availableAt })).rejects.toMatchObject(
      {
        code: "outbox.unsupported",
      },
    );
    await outbox.store.enqueue({ type: "order.placed", availableAt: new Date(0) });
    expect(await outbox.pending()).toHaveLength(1);
  });
});

describe("receives", () => {
  test("one whose reply was lost is made again under its attempt id, and finds the same messages", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue(keyed("a", 3));
    outbox.faults.next("ReceiveMessageCommand", applyThenTimeOut);
    await expect(outbox.claim(100, { claimId: "c-1" })).rejects.toMatchObject({
      code: "outbox.store_error",
      kind: "unknown-outcome",
    });
    expect(numbers(await outbox.claim(100, { claimId: "c-1" }))).toEqual([0]);
    const [first, second] = outbox.faults
      .inputs("ReceiveMessageCommand")
      .map((input) => input.ReceiveRequestAttemptId);
    expect(first).toBe(second);
  });

  test("one that was answered is not made again", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue(keyed("a", 1));
    await outbox.claim(100, { claimId: "c-1" });
    outbox.faults.next("ReceiveMessageCommand", throwing(sqsError("RequestThrottled")));
    await outbox.claim(100, { claimId: "c-2" }).catch(() => undefined);
    await outbox.claim(100, { claimId: "c-1" });
    const ids = outbox.faults
      .inputs("ReceiveMessageCommand")
      .map((input) => input.ReceiveRequestAttemptId);
    expect(ids[0]).not.toBe(ids[1]);
    expect(ids[2]).toBe(ids[1]);
  });

  test("an expired handle is refused by a FIFO queue: the delivery counts as stale", async () => {
    await using outbox = await openOutbox(server(), fifo);
    await outbox.store.enqueue(keyed("a", 2));
    const claim = await outbox.claimOne();
    outbox.faults.next(
      "DeleteMessageBatchCommand",
      failMembers("InvalidParameterValue", () => true, {
        message:
          "Value AQEB for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.",
      }),
    );
    expect(await outbox.store.markClaimDelivered(claim)).toMatchObject({ outcome: "stale-claim" });
    // Its group is not ours any more, so its later members are not emitted either.
    expect(await outbox.claim()).toEqual([]);
  });
});
