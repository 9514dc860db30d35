import { describe, expect, test } from "vitest";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

const unavailable = { code: "http.503", message: "unavailable", isRetryable: true };
const rejected = { code: "http.422", message: "rejected", isRetryable: false };
const minute = 60_000;
const hour = 60 * minute;

describe("on a standard queue", () => {
  test("a message carries the entry, and id, type and traceparent beside it", async () => {
    await using outbox = await openOutbox(server());
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await outbox.store.enqueue({
      type: "order.placed",
      envelopeId: "v-1",
      payload: 1,
      traceparent,
    });
    const [message] = await outbox.pending();
    expect(message?.messageAttributes).toMatchObject({
      id: { StringValue: "v-1" },
      type: { StringValue: "order.placed" },
      traceparent: { StringValue: traceparent },
    });
    expect(message?.snapshot).toMatchObject({ generation: 1, entry: { status: "pending" } });
  });

  test("a retry holds the old message, sends the new one, deletes the old one, in that order", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue({ type: "order.placed" });
    const claim = await outbox.claimOne();
    outbox.faults.forgetCalls();
    await outbox.store.markClaimFailed(claim, unavailable, { retryInMs: minute });
    expect(outbox.faults.calls.map(({ command }) => command)).toEqual([
      "ChangeMessageVisibilityBatchCommand",
      "SendMessageBatchCommand",
      "DeleteMessageBatchCommand",
    ]);
    const [message, ...others] = await outbox.pending();
    expect(others).toEqual([]);
    expect(message).toMatchObject({
      state: "delayed",
      snapshot: {
        generation: 2,
        entry: { status: "retryable-failure", retryCount: 1, claimAttemptCount: 1 },
      },
    });
  });

  test("counters go on over copies: the base is in the snapshot, the receives are added", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue({ type: "order.placed" });
    for (let round = 1; round <= 3; round++) {
      const claim = await outbox.claimOne();
      expect(claim.entry).toMatchObject({
        claimAttemptCount: 2 * round - 1,
        retryCount: round - 1,
      });
      await outbox.store.releaseClaim(claim);
      await outbox.store.markClaimFailed(await outbox.claimOne(), unavailable, { retryInMs: 0 });
    }
  });

  test("a transition with a new payload object sends what was enqueued", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue({ type: "order.placed", payload: { list: [1] } });
    const claim = await outbox.claimOne();
    (claim.entry.envelope.payload as { list: number[] }).list.push(2);
    await outbox.store.markClaimFailed(claim, unavailable, { retryInMs: 0 });
    expect((await outbox.claimOne()).entry.envelope.payload).toEqual({ list: [1] });
  });

  test("a delay of 13 hours travels hop by hop, and nobody is offered the entry before", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue({ type: "order.placed", availableInMs: 13 * hour });
    let hops = 0;
    for (let passed = 0; passed < 13 * hour - minute; passed += 901_000) {
      const [message, ...others] = await outbox.pending();
      expect(others).toEqual([]);
      expect(message?.state).toBe("delayed");
      await outbox.sqs.advance(901_000);
      if (passed + 901_000 < 13 * hour) {
        expect(await outbox.claim()).toEqual([]);
        hops += 1;
      }
    }
    await outbox.sqs.advance(20 * minute);
    const claim = await outbox.claimOne();
    const waited = claim.claimedAt.getTime() - claim.entry.createdAt.getTime();
    expect(waited).toBeGreaterThanOrEqual(13 * hour);
    expect(hops).toBe(51);
    // Each hop was a receive, and none of them a claim.
    expect(claim.entry.claimAttemptCount).toBe(1);
  });

  test("a lease of 12 hours is taken, one second more is refused", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue({ type: "order.placed" });
    await expect(outbox.claim(1, { leaseDurationMs: 12 * hour + 1_000 })).rejects.toMatchObject({
      code: "outbox.invalid_argument",
      argument: "request.leaseDurationMs",
    });
    const [claim] = await outbox.claim(1, { leaseDurationMs: 12 * hour });
    expect(claim).toBeDefined();
  });

  test("parked and dead-lettered entries share the other queue, told apart by their status", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue([{ type: "order.placed" }, { type: "order.placed" }]);
    const [first, second] = await outbox.claim();
    if (first === undefined || second === undefined) throw new Error("two entries are claimed");
    await outbox.store.markClaimFailed(first, rejected);
    await outbox.store.markClaimDeadLettered(second, rejected, "no hope");
    expect(await outbox.pending()).toEqual([]);
    const statuses = (await outbox.deadLetter()).map(({ snapshot }) => snapshot?.entry.status);
    expect(statuses.sort()).toEqual(["dead-lettered", "failed"]);
  });

  test("a release near the end of a message's retention sends it anew", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue({ type: "order.placed" });
    await outbox.sqs.advance(13.5 * 24 * hour);
    await outbox.store.releaseClaim(await outbox.claimOne());
    const [message] = await outbox.pending();
    expect(message?.snapshot).toMatchObject({ generation: 2, entry: { status: "pending" } });
    const age = (await outbox.sqs.now()) - (message?.sentTimestamp ?? 0);
    expect(age).toBeLessThan(minute);
  });

  test("a release that is longer than what is left of twelve hours travels too", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue({ type: "order.placed" });
    await outbox.store.releaseClaim(await outbox.claimOne(), { delayMs: 13 * hour });
    const [message] = await outbox.pending();
    expect(message?.state).toBe("delayed");
    expect(message?.snapshot?.notBefore).not.toBeNull();
  });

  test("a repeated transition does nothing twice, and another one by the same claim nothing", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue({ type: "order.placed" });
    const claim = await outbox.claimOne();
    const fail = () => outbox.store.markClaimFailed(claim, unavailable, { retryInMs: minute });
    expect(await fail()).toMatchObject({ outcome: "applied" });
    expect(await fail()).toMatchObject({ outcome: "applied", replayed: true });
    expect(await outbox.store.markClaimDelivered(claim)).toMatchObject({ outcome: "stale-claim" });
    expect(await outbox.pending()).toHaveLength(1);
  });

  test("an entry that fits at enqueue can be dead-lettered after many failures with long texts", async () => {
    await using outbox = await openOutbox(server(), { attributes: { MaximumMessageSize: "4096" } });
    await outbox.store.enqueue({ type: "order.placed", payload: "x".repeat(2_500) });
    const wordy = { ...unavailable, message: "long ".repeat(400) };
    for (let round = 0; round < 5; round++) {
      await outbox.store.markClaimFailed(await outbox.claimOne(), wordy, { retryInMs: 0 });
    }
    await outbox.store.markClaimDeadLettered(await outbox.claimOne(), wordy);
    const [message] = await outbox.deadLetter();
    expect(message?.snapshot?.entry).toMatchObject({ status: "dead-lettered", retryCount: 6 });
  });

  test("an entry that is too big is refused before anything is sent", async () => {
    await using outbox = await openOutbox(server(), { attributes: { MaximumMessageSize: "2048" } });
    const entries = [
      { type: "order.placed" },
      { type: "order.placed", payload: "x".repeat(3_000) },
    ];
    await expect(outbox.store.enqueue(entries)).rejects.toMatchObject({
      code: "outbox.invalid_argument",
      message: expect.stringContaining("the queue takes 2048"),
    });
    expect(await outbox.pending()).toEqual([]);
  });
});

describe("messages that are no entries of ours", () => {
  test.each([
    ["text", "hello"],
    ["somebody else's JSON", '{"Records":[{"eventName":"x"}]}'],
    ["a damaged snapshot", '{"outbox":1,"entryId":"e"}'],
  ])("%s is dead-lettered as it came, and nobody is offered it", async (_what, body) => {
    await using outbox = await openOutbox(server());
    const { SendMessageCommand } = await import("@aws-sdk/client-sqs");
    await outbox.sqs.client.send(
      new SendMessageCommand({
        QueueUrl: outbox.outbox.queues.pending,
        MessageBody: body,
        MessageAttributes: { origin: { DataType: "String", StringValue: "elsewhere" } },
      }),
    );
    await outbox.store.enqueue({ type: "order.placed" });
    await outbox.claimOne();
    const [dead] = await outbox.deadLetter();
    expect(dead?.body).toBe(body);
    expect(dead?.messageAttributes).toMatchObject({
      origin: { StringValue: "elsewhere" },
      "outbox.problem": { StringValue: expect.any(String) },
    });
    // A redrive of everything leaves it where somebody will look at it.
    expect(await outbox.store.redrive({ all: true })).toEqual({ count: 0 });
    expect(await outbox.deadLetter()).toHaveLength(1);
  });

  test("a later version's entry is left to others for a minute, not dead-lettered", async () => {
    await using outbox = await openOutbox(server());
    const { SendMessageCommand } = await import("@aws-sdk/client-sqs");
    await outbox.sqs.client.send(
      new SendMessageCommand({
        QueueUrl: outbox.outbox.queues.pending,
        MessageBody: '{"outbox":2}',
      }),
    );
    expect(await outbox.claim()).toEqual([]);
    expect(await outbox.deadLetter()).toEqual([]);
    await outbox.sqs.advance(50_000);
    const other = outbox.openStore().store;
    await other.claim({ workerId: "other" });
    const [message] = await outbox.pending();
    expect(message).toMatchObject({ state: "in-flight", approximateReceiveCount: 1 });
  });
});

describe("redrive", () => {
  test("by filter: what matches becomes pending and due, the rest stays and can be seen at once", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(
      Array.from({ length: 25 }, (_, index) => ({
        type: index % 5 === 0 ? "mail.sent" : "order.placed",
      })),
    );
    for (const claim of await outbox.claim()) {
      await outbox.store.markClaimDeadLettered(claim, rejected);
    }
    const mails = { types: ["mail.*"] };
    expect(await outbox.store.redrive(mails, { dryRun: true })).toEqual({ count: 5 });
    const why = { by: "ops", reason: "fixed" };
    expect(await outbox.store.redrive(mails, why)).toEqual({ count: 5 });
    const rest = await outbox.deadLetter();
    expect(rest).toHaveLength(20);
    expect(new Set(rest.map(({ state }) => state))).toEqual(new Set(["ready"]));
    const claims = await outbox.claim();
    expect(claims).toHaveLength(5);
    expect(claims[0]?.entry).toMatchObject({
      status: "pending",
      retryCount: 0,
      claimAttemptCount: 2,
      lastRedrive: why,
      failures: [{ code: "http.422" }],
    });
  });

  test("by predicate and count", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(
      Array.from({ length: 12 }, (_, n) => ({ type: "order.placed", payload: { n } })),
    );
    for (const claim of await outbox.claim()) await outbox.store.markClaimFailed(claim, rejected);
    const isEven = ({ envelope }: { readonly envelope: { readonly payload: unknown } }) =>
      (envelope.payload as { n: number }).n % 2 === 0;
    expect(await outbox.store.redriveDeadLetters({ where: isEven, maxCount: 4 })).toEqual({
      count: 4,
    });
    expect(await outbox.deadLetter()).toHaveLength(8);
    expect(await outbox.store.approximateCounts()).toMatchObject({
      pending: { visible: 4 },
      deadLetter: { visible: 8, inFlight: 0 },
    });
  });
});
