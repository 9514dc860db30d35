import { createWorker, drain, type OutboxClaim, routeByType } from "@outbox/core";
import { describe, expect, test, vi } from "vitest";
import { applyThenTimeOut, failMembers, sqsError, throwing } from "./testing/faults.js";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

const unavailable = { code: "http.503", message: "unavailable", isRetryable: true };
const hour = 3_600_000;
const many = (count: number) => Array.from({ length: count }, () => ({ type: "order.placed" }));
const deliveries = (claims: readonly OutboxClaim[]) =>
  claims.map((claim) => ({ claim, kind: "delivered" as const }));

describe("partial failures", () => {
  test("members of a delete that fail for now are deleted again, and only they", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(10));
    const claims = await outbox.claim();
    outbox.faults.next(
      "DeleteMessageBatchCommand",
      failMembers("InternalError", (_, index) => index % 3 === 0, { senderFault: false }),
    );
    const transitions = await outbox.store.completeClaims(deliveries(claims));
    expect(transitions.map(({ outcome }) => outcome)).toEqual(Array(10).fill("applied"));
    expect(
      outbox.faults.inputs("DeleteMessageBatchCommand").map((one) => one.Entries?.length),
    ).toEqual([10, 4]);
    expect(await outbox.pending()).toEqual([]);
  });

  test.each([
    ["ReceiptHandleIsInvalid", "The input receipt handle is invalid."],
    ["MessageNotInflight", "The message is not in flight."],
    [
      "InvalidParameterValue",
      "Value AQEB for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.",
    ],
  ])(
    "%s of one member makes that claim stale, and the others are applied",
    async (code, message) => {
      await using outbox = await openOutbox(server());
      await outbox.store.enqueue(many(3));
      const claims = await outbox.claim();
      const [, second] = claims;
      const isSecond = ({ ReceiptHandle = "" }) =>
        second?.claimToken.endsWith(ReceiptHandle) === true;
      for (const command of [
        "DeleteMessageBatchCommand",
        "ChangeMessageVisibilityBatchCommand",
      ] as const) {
        outbox.faults.always(command, failMembers(code, isSecond, { message }));
      }
      const extensions = await outbox.store.extendClaims(claims, { leaseDurationMs: 60_000 });
      expect(extensions.map(({ outcome }) => outcome)).toEqual([
        "applied",
        "stale-claim",
        "applied",
      ]);
      const transitions = await outbox.store.completeClaims(deliveries(claims));
      expect(transitions.map(({ outcome }) => outcome)).toEqual([
        "applied",
        "stale-claim",
        "applied",
      ]);
    },
  );

  test("a retry whose message is not ours any more sends nothing", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(2));
    const claims = await outbox.claim();
    outbox.faults.forgetCalls();
    outbox.faults.next(
      "ChangeMessageVisibilityBatchCommand",
      failMembers("MessageNotInflight", () => true),
    );
    const transitions = await outbox.store.completeClaims(
      claims.map((claim) => ({ claim, kind: "deferred" as const, retryInMs: 1_000 })),
    );
    expect(transitions.map(({ outcome }) => outcome)).toEqual(["stale-claim", "stale-claim"]);
    expect(outbox.faults.count("SendMessageBatchCommand")).toBe(0);
    expect(outbox.faults.count("DeleteMessageBatchCommand")).toBe(0);
  });

  test("a delete that fails after the re-send is repeated; the message is not sent twice", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(3));
    const claims = await outbox.claim();
    outbox.faults.forgetCalls();
    outbox.faults.always("DeleteMessageBatchCommand", throwing(sqsError("RequestThrottled")));
    const retry = () =>
      outbox.store.completeClaims(
        claims.map((claim) => ({ claim, kind: "deferred" as const, retryInMs: 1_000 })),
      );
    await expect(retry()).rejects.toMatchObject({ code: "outbox.store_error", kind: "transient" });
    expect(await outbox.pending()).toHaveLength(6);
    outbox.faults.always("DeleteMessageBatchCommand", null);
    const transitions = await retry();
    expect(transitions.map(({ outcome }) => outcome)).toEqual(Array(3).fill("applied"));
    expect(outbox.faults.count("SendMessageBatchCommand")).toBe(1);
    expect(await outbox.pending()).toHaveLength(3);
  });

  test("an old copy that could not be deleted is recognised when it comes back", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(1));
    const claim = await outbox.claimOne();
    // SQS says that it deleted the message, and did not.
    outbox.faults.next("DeleteMessageBatchCommand", async (input) => ({
      Successful: (input.Entries ?? []).map(({ Id }) => ({ Id })),
    }));
    await outbox.store.markClaimFailed(claim, unavailable, { retryInMs: 600_000 });
    expect(await outbox.pending()).toHaveLength(2);
    await outbox.sqs.advance(61_000);
    expect(await outbox.claim()).toEqual([]);
    const [left, ...others] = await outbox.pending();
    expect(others).toEqual([]);
    expect(left?.snapshot?.generation).toBe(2);
  });

  test("an enqueue of which some cannot be sent says how many and which", async () => {
    await using outbox = await openOutbox(server());
    outbox.faults.always(
      "SendMessageBatchCommand",
      failMembers("ThrottlingException", (_, index) => index < 2),
    );
    const failure = outbox.store.enqueue([
      { type: "order.placed", envelopeId: "v-1" },
      { type: "order.placed", envelopeId: "v-2" },
      { type: "order.placed", envelopeId: "v-3" },
    ]);
    await expect(failure).rejects.toMatchObject({
      kind: "transient",
      message: expect.stringMatching(/2 of 3 entries were not.*v-1, v-2/),
    });
    expect(await outbox.pending()).toHaveLength(1);
  });
});

describe("limits", () => {
  test("a batch is split by bytes before SQS would refuse it as a whole", async () => {
    await using outbox = await openOutbox(server());
    const payload = "x".repeat(300_000);
    await outbox.store.enqueue(
      Array.from({ length: 10 }, () => ({ type: "order.placed", payload })),
    );
    const sizes = outbox.faults.inputs("SendMessageBatchCommand").map((one) => one.Entries?.length);
    expect(sizes).toEqual([3, 3, 3, 1]);
    expect(await outbox.pending()).toHaveLength(10);
  });

  test("a batch that SQS refuses as a whole is halved until the one that poisons it is alone", async () => {
    await using outbox = await openOutbox(server());
    outbox.faults.always("SendMessageBatchCommand", async (input, proceed) => {
      const isPoisoned = input.Entries?.some(({ MessageBody }) => MessageBody?.includes("v-3"));
      if (isPoisoned) throw sqsError("InvalidMessageContents");
      return proceed();
    });
    const entries = many(5).map((entry, index) => ({ ...entry, envelopeId: `v-${index}` }));
    await expect(outbox.store.enqueue(entries)).rejects.toMatchObject({
      kind: "invalid-data",
      message: expect.stringMatching(/1 of 5 entries were not.*v-3;/),
    });
    expect(await outbox.pending()).toHaveLength(4);
  });

  test("twelve hours count from the receive: renewals get what is left, and then nothing", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(1));
    let claim = (await outbox.claim(1, { leaseDurationMs: 5 * hour }))[0];
    const renew = async () => {
      if (claim === undefined) throw new Error("there is a claim");
      const [extension] = await outbox.store.extendClaims([claim], { leaseDurationMs: 5 * hour });
      claim = extension?.claim ?? claim;
      return extension;
    };
    const pass = async (ms: number) => {
      await outbox.sqs.advance(ms);
      // This process's clocks do not go with SQS's here: any reply tells the time.
      await outbox.store.approximateCounts();
    };
    await pass(4 * hour);
    expect((await renew())?.outcome).toBe("applied");
    await pass(4 * hour);
    outbox.faults.forgetCalls();
    const last = await renew();
    expect(last?.outcome).toBe("applied");
    const [input] = outbox.faults.inputs("ChangeMessageVisibilityBatchCommand");
    const seconds = input?.Entries?.[0]?.VisibilityTimeout ?? 0;
    expect(seconds).toBeGreaterThan(4 * 3_600 - 10);
    expect(seconds).toBeLessThanOrEqual(4 * 3_600);
    // The local deadline is that of the shorter lease, not of the one that was asked for.
    const leftMs = (last?.claim?.deadline.monotonicMs ?? 0) - performance.now();
    expect(leftMs).toBeLessThanOrEqual(4 * hour);
    await pass(4 * hour - 1_500);
    outbox.faults.forgetCalls();
    expect((await renew())?.outcome).toBe("stale-claim");
    expect(outbox.faults.count("ChangeMessageVisibilityBatchCommand")).toBe(0);
  });

  test("OverLimit is thrown to the worker's backoff, not repeated at once", async () => {
    await using outbox = await openOutbox(server());
    outbox.faults.always(
      "ReceiveMessageCommand",
      throwing(sqsError("OverLimit", "OverLimit", 403)),
    );
    await expect(outbox.claim()).rejects.toMatchObject({
      code: "outbox.store_error",
      kind: "transient",
      message: expect.stringContaining("messages in flight"),
    });
    expect(outbox.faults.count("ReceiveMessageCommand")).toBe(1);
  });

  test("OverLimit beside a receive that brought something does not lose what it brought", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(30));
    outbox.faults.next("ReceiveMessageCommand", (_, proceed) => proceed());
    outbox.faults.always(
      "ReceiveMessageCommand",
      throwing(sqsError("OverLimit", "OverLimit", 403)),
    );
    expect(await outbox.claim()).toHaveLength(10);
  });

  test("a full in-flight quota, of which long polls say nothing, is told from an empty queue", async () => {
    await using outbox = await openOutbox(server());
    outbox.faults.always("ReceiveMessageCommand", async () => ({ Messages: [] }));
    expect(await outbox.claim()).toEqual([]);
    outbox.faults.always("GetQueueAttributesCommand", async (_, proceed) => {
      const output = await proceed();
      const Attributes = {
        ...output.Attributes,
        ApproximateNumberOfMessagesNotVisible: "119500",
      };
      return { ...output, Attributes };
    });
    await expect(outbox.claim()).rejects.toMatchObject({
      code: "outbox.sqs_in_flight_quota",
      isTransient: true,
    });
    outbox.faults.always("GetQueueAttributesCommand", null);
    expect(await outbox.claim()).toEqual([]);
    const looks = outbox.faults.count("GetQueueAttributesCommand");
    for (let poll = 0; poll < 5; poll++) await outbox.claim();
    expect(outbox.faults.count("GetQueueAttributesCommand"), "asked once a minute").toBe(looks);
  });
});

describe("what the store leaves to the drain", () => {
  test("a worker backs off from errors of SQS, and its health says what is wrong", async () => {
    await using outbox = await openOutbox(server());
    outbox.faults.always(
      "ReceiveMessageCommand",
      throwing(sqsError("OverLimit", "OverLimit", 403)),
    );
    const worker = createWorker({ store: outbox.store, emitter: async () => {} });
    worker.start();
    await vi.waitUntil(() => worker.health().consecutiveFailures >= 2);
    const since = performance.now();
    await vi.waitUntil(() => worker.health().consecutiveFailures >= 4);
    expect(performance.now() - since, "a pause between two tries").toBeGreaterThan(200);
    expect(worker.health()).toMatchObject({
      status: "degraded",
      lastError: expect.stringContaining("messages in flight"),
    });
    outbox.faults.always("ReceiveMessageCommand", null);
    await vi.waitUntil(() => worker.health().status === "healthy", { timeout: 10_000 });
    await worker.stop();
  });

  test("an entry that no emitter here is for waits a minute at least, and is not dead-lettered", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(3));
    await drain({ store: outbox.store, emitter: routeByType({ "mail.*": async () => {} }) });
    const messages = await outbox.pending();
    expect(messages.map(({ state }) => state)).toEqual(["delayed", "delayed", "delayed"]);
    for (const { delayUntil = 0, sentTimestamp, snapshot } of messages) {
      expect(delayUntil - sentTimestamp).toBeGreaterThanOrEqual(60_000);
      expect(snapshot?.entry).toMatchObject({ status: "deferred", retryCount: 0 });
    }
  });

  test.each([
    ["a standard queue", false],
    ["a FIFO queue", true],
  ])("of %s, what is beyond the byte bound of a claim is given back", async (_what, fifo) => {
    await using outbox = await openOutbox(server(), { fifo });
    const payload = "x".repeat(998);
    await outbox.store.enqueue(
      Array.from({ length: 10 }, () => ({ type: "order.placed", payload })),
    );
    const request = { workerId: "worker", maxBytes: 3_500 };
    const { claims, more } = await outbox.store.claim(request);
    expect(claims).toHaveLength(3);
    expect(more).toBe("likely");
    const states = (await outbox.pending()).map(({ state }) => state);
    expect(states.filter((state) => state === "ready")).toHaveLength(7);
    const alone = await outbox.store.claim({ ...request, maxBytes: 10 });
    expect(alone.claims, "the first one always").toHaveLength(1);
  });
});

describe("throttling, server errors, credentials", () => {
  test.each([
    ["RequestThrottled", 403],
    ["ServiceUnavailable", 503],
    ["ExpiredToken", 403],
    ["InternalFailure", 500],
  ] as const)("%s is waited out, and an enqueue goes through", async (name, status) => {
    await using outbox = await openOutbox(server());
    const fault = throwing(sqsError(name, name, status));
    outbox.faults.next("SendMessageBatchCommand", fault, fault);
    await outbox.store.enqueue(many(1));
    expect(outbox.faults.count("SendMessageBatchCommand")).toBe(3);
    expect(await outbox.pending()).toHaveLength(1);
  });

  test("credentials that stay expired are surfaced, with what to do", async () => {
    await using outbox = await openOutbox(server());
    const expired = sqsError(
      "ExpiredToken",
      "The security token included in the request is expired",
    );
    for (const command of ["ReceiveMessageCommand", "GetQueueAttributesCommand"] as const) {
      outbox.faults.always(command, throwing(expired));
    }
    await expect(outbox.claim()).rejects.toMatchObject({
      kind: "transient",
      message: expect.stringContaining("a provider that renews them"),
    });
  });

  test("a reply that was lost after SQS did it: a delete is repeated, an enqueue makes a copy", async () => {
    await using outbox = await openOutbox(server());
    outbox.faults.next("SendMessageBatchCommand", applyThenTimeOut);
    await outbox.store.enqueue(many(1));
    expect(await outbox.pending()).toHaveLength(2);
    const claims = await outbox.claim();
    expect(new Set(claims.map(({ entry }) => entry.entryId)).size).toBe(1);
    outbox.faults.next("DeleteMessageBatchCommand", applyThenTimeOut);
    const [first, second] = claims;
    if (first === undefined || second === undefined) throw new Error("two copies are claimed");
    expect(await outbox.store.markClaimDelivered(first)).toMatchObject({ outcome: "applied" });
    expect(await outbox.store.markClaimDelivered(second)).toMatchObject({ outcome: "applied" });
    expect(await outbox.pending()).toEqual([]);
  });

  test("messages that come twice and out of order are claimed as often as they come", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(4));
    outbox.faults.next("ReceiveMessageCommand", async (_, proceed) => {
      const output = await proceed();
      const messages = [...(output.Messages ?? [])].reverse();
      const [first] = messages;
      const copies = first === undefined ? [] : [{ ...first, ReceiptHandle: "another-receive" }];
      return { ...output, Messages: [...messages, ...copies] };
    });
    const claims = await outbox.claim();
    expect(claims).toHaveLength(5);
    expect(new Set(claims.map(({ claimToken }) => claimToken)).size).toBe(5);
    const transitions = await outbox.store.completeClaims(deliveries(claims));
    expect(transitions.every(({ outcome }) => outcome === "applied")).toBe(true);
    expect(await outbox.pending()).toEqual([]);
  });
});

describe("queues that would lose entries", () => {
  test.each([
    ["a retention of four days", { MessageRetentionPeriod: "345600" }, "retention"],
    [
      "a native redrive policy",
      { RedrivePolicy: '{"maxReceiveCount":3,"deadLetterTargetArn":"arn:x"}' },
      "redrive-policy",
    ],
    ["a visibility default under the lease", { VisibilityTimeout: "30" }, "visibility-timeout"],
  ] as const)(
    "%s is refused at the first claim, unless accepted by name",
    async (_what, attributes, name) => {
      await using outbox = await openOutbox(server(), { attributes, accept: [] });
      await expect(outbox.claim()).rejects.toMatchObject({
        code: "outbox.sqs_queue_refused",
        message: expect.stringContaining(`accept: ["${name}"]`),
      });
      expect((await outbox.store.checkQueues()).length).toBe(name === "visibility-timeout" ? 0 : 1);
      const { store } = outbox.openStore({ accept: [name] });
      await expect(store.claim({ workerId: "worker" })).resolves.toMatchObject({ claims: [] });
    },
  );

  test("a dead-letter queue of less retention than declared is refused", async () => {
    const deadLetterAttributes = { MessageRetentionPeriod: "345600" };
    await using outbox = await openOutbox(server(), { deadLetterAttributes });
    await expect(outbox.claim()).rejects.toThrow("deadLetterRetentionMs");
    const { store } = outbox.openStore({ deadLetterRetentionMs: 345_600_000 });
    expect(store.capabilities.maxParkedAgeMs).toBe(345_600_000);
    await expect(store.claim({ workerId: "worker" })).resolves.toMatchObject({ claims: [] });
  });
});

describe("messages that kill their workers", () => {
  test("are dead-lettered by receive count where that is asked for, but not during an outage", async () => {
    let isDown = true;
    await using outbox = await openOutbox(server(), {
      maxReceiveCount: { count: 3, isSuspended: () => isDown },
    });
    await outbox.store.enqueue(many(1));
    for (let receive = 1; receive <= 5; receive++) {
      // Killed: nobody finishes the claim.
      expect(await outbox.claim(), `receive ${receive}`).toHaveLength(1);
      await outbox.sqs.advance(61_000);
    }
    isDown = false;
    expect(await outbox.claim()).toEqual([]);
    const [dead] = await outbox.deadLetter();
    expect(dead?.snapshot?.entry.deadLetterReason).toBe("outbox.max_receive_count_exceeded");
  });

  test("receives that this worker released are not held against the entry", async () => {
    await using outbox = await openOutbox(server(), {
      maxReceiveCount: { count: 3, isSuspended: () => false },
    });
    await outbox.store.enqueue(many(1));
    for (let round = 0; round < 10; round++) {
      await outbox.store.releaseClaim(await outbox.claimOne());
    }
    expect(await outbox.deadLetter()).toEqual([]);
  });

  test("no entry is dead-lettered for its receives by default", async () => {
    await using outbox = await openOutbox(server());
    await outbox.store.enqueue(many(1));
    for (let receive = 1; receive <= 30; receive++) {
      expect(await outbox.claim()).toHaveLength(1);
      await outbox.sqs.advance(61_000);
    }
  });
});
