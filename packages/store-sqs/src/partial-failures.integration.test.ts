import type { OutboxClaim } from "@outbox/core";
import { describe, expect, test } from "vitest";
import { applyThenTimeOut, failMembers, sqsError, throwing } from "./testing/faults.js";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

const unavailable = { code: "http.503", message: "unavailable", isRetryable: true };
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
