import { describe, expect, test } from "vitest";
import { sqsError, throwing } from "./testing/faults.js";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

const hour = 3_600_000;
const many = (count: number) => Array.from({ length: count }, () => ({ type: "order.placed" }));

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
