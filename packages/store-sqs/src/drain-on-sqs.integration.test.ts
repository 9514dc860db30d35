import { createWorker, drain, routeByType } from "@outbox/core";
import { describe, expect, test, vi } from "vitest";
import { sqsError, throwing } from "./testing/faults.js";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();

const many = (count: number) => Array.from({ length: count }, () => ({ type: "order.placed" }));

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

  test("an outage of the provider dead-letters nothing and makes no copies that stay", async () => {
    await using outbox = await openOutbox(server(), { longPollMs: 1_000 });
    await outbox.store.enqueue(many(200));
    let isDown = true;
    const sent = new Set<string>();
    const worker = createWorker({
      store: outbox.store,
      retryDelayMs: 1_000,
      maxRetryDelayMs: 0,
      emitter: async ({ envelopeId }) => {
        if (isDown) throw new Error("provider unavailable");
        sent.add(envelopeId);
      },
    });
    worker.start();
    await vi.waitUntil(() => worker.health().openCircuits.length > 0, { timeout: 10_000 });
    const putOff = async () =>
      (await outbox.pending()).filter(({ snapshot }) => snapshot?.entry.status === "deferred");
    await vi.waitUntil(async () => (await putOff()).length > 0, { timeout: 10_000 });
    const ids = (await outbox.pending()).map(({ snapshot }) => snapshot?.entry.entryId);
    expect(new Set(ids).size).toBe(200);
    expect(ids.length).toBeLessThanOrEqual(2 * 200);
    isDown = false;
    await vi.waitUntil(() => sent.size === 200, { timeout: 25_000 });
    await worker.stop();
    expect(await outbox.deadLetter()).toEqual([]);
    expect(await outbox.pending()).toEqual([]);
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
