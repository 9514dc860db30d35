import { fork } from "node:child_process";
import { once } from "node:events";
import { createWorker, drain } from "@outbox/core";
import { expect, test, vi } from "vitest";
import { createSqsStore } from "./create-sqs-store.js";
import type { CallOutput } from "./testing/faults.js";
import { openOutbox } from "./testing/open-outbox.js";
import { temporaryServer } from "./testing/temporary-server.js";

const server = temporaryServer();
const many = (count: number) => Array.from({ length: count }, () => ({ type: "order.placed" }));

/** A gate that holds calls until it is opened. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test("a receive under way is awaited on close, and what it brings is given back", async () => {
  await using outbox = await openOutbox(server());
  await outbox.store.enqueue(many(3));
  const { store, faults } = outbox.openStore();
  const held = gate();
  let hasReceived = false;
  faults.next("ReceiveMessageCommand", async (_, proceed): Promise<CallOutput> => {
    const output = await proceed();
    hasReceived = true;
    await held.opened;
    return output;
  });
  const claiming = store.claim({ workerId: "leaving" });
  await vi.waitUntil(() => hasReceived);
  let isClosed = false;
  const closing = store.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  held.open();
  await closing;
  expect((await claiming).claims).toEqual([]);
  expect((await outbox.pending()).map(({ state }) => state)).toEqual(["ready", "ready", "ready"]);
});

test("members of groups that nobody has are given back on close", async () => {
  await using outbox = await openOutbox(server(), { fifo: true });
  const { store } = outbox.openStore();
  await store.enqueue(many(4).map((entry) => ({ ...entry, orderingKey: "a" })));
  const { claims } = await store.claim({ workerId: "leaving" });
  expect(claims).toHaveLength(1);
  await store.close();
  const states = (await outbox.pending()).map(({ state }) => state).sort();
  expect(states).toEqual(["in-flight", "ready", "ready", "ready"]);
});

test("a stopped worker leaves nothing leased", async () => {
  await using outbox = await openOutbox(server(), { longPollMs: 2_000 });
  await outbox.store.enqueue(many(50));
  const started = gate();
  const worker = createWorker({
    store: outbox.store,
    emitConcurrency: 2,
    emitter: async (_, { signal }) => {
      started.open();
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve, { once: true });
      });
      throw signal.reason;
    },
  });
  worker.start();
  await started.opened;
  await worker.stop({ timeoutMs: 50 });
  await outbox.store.close();
  const states = (await outbox.pending()).map(({ state }) => state);
  expect(states).toHaveLength(50);
  expect(new Set(states)).toEqual(new Set(["ready"]));
});

test("long polls have sockets of their own: renewals and deletes go through beside them", async () => {
  await using outbox = await openOutbox(server());
  await outbox.store.enqueue(many(1));
  await using store = createSqsStore({
    queues: outbox.outbox.queues,
    clientConfig: {
      ...outbox.sqs.clientConfig,
      requestHandler: { httpAgent: { maxSockets: 1 } },
    },
    longPollMs: 5_000,
  });
  const [claim] = (await store.claim({ workerId: "worker" })).claims;
  if (claim === undefined) throw new Error("an entry is claimed");
  // The first look at an empty queue is short; the next ones wait.
  await store.claim({ workerId: "worker" });
  let isPolling = true;
  const polling = store.claim({ workerId: "worker" }).finally(() => {
    isPolling = false;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const [extension] = await store.extendClaims([claim], { leaseDurationMs: 60_000 });
  expect(extension?.outcome).toBe("applied");
  expect(await store.markClaimDelivered(claim)).toMatchObject({ outcome: "applied" });
  expect(isPolling).toBe(true);
  await polling;
});

test("a silent network gives up after the time limit", async () => {
  await using outbox = await openOutbox(server(), { callTimeoutMs: 200 });
  await outbox.store.enqueue(many(1));
  outbox.faults.always("DeleteMessageBatchCommand", async () =>
    Promise.reject(Object.assign(new Error("aborted"), { name: "AbortError" })),
  );
  const claim = await outbox.claimOne();
  await expect(outbox.store.markClaimDelivered(claim)).rejects.toMatchObject({
    kind: "unknown-outcome",
  });
});

test("the local deadline of a long poll's lease counts from near its end, not from its start", async () => {
  await using outbox = await openOutbox(server(), { longPollMs: 10_000 });
  // The first poll of a store looks for a second; the next one waits.
  expect(await outbox.claim()).toEqual([]);
  const sentAt = performance.now();
  const claiming = outbox.claim();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await outbox.openStore().store.enqueue(many(1));
  const [claim] = await claiming;
  const lengthFromStart = (claim?.deadline.monotonicMs ?? 0) - sentAt;
  expect(lengthFromStart).toBeGreaterThan(60_000 + 1_000);
  expect(claim?.deadline.monotonicMs).toBeLessThanOrEqual(performance.now() + 60_000);
});

test("the wait of a poll is a quarter of the lease at most, and none is longer than asked for", async () => {
  await using outbox = await openOutbox(server(), { longPollMs: 20_000 });
  outbox.faults.always("ReceiveMessageCommand", async () => ({}));
  const waits = async (leaseDurationMs: number) => {
    outbox.faults.forgetCalls();
    await outbox.claim(1, { leaseDurationMs });
    return outbox.faults.inputs("ReceiveMessageCommand")[0]?.WaitTimeSeconds;
  };
  expect(await waits(60_000), "a first look").toBe(1);
  expect(await waits(60_000)).toBe(15);
  expect(await waits(600_000)).toBe(20);
  expect(await waits(10_000)).toBe(2);
  expect(await waits(2_000)).toBe(0);
});

test("killed between re-send and delete, a worker leaves a duplicate and never a loss", async () => {
  await using outbox = await openOutbox(server());
  await outbox.store.enqueue(many(10));
  const child = fork(new URL("./testing/killed-worker.ts", import.meta.url), {
    execArgv: ["--conditions=@outbox/source", "--import", "tsx"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.send({ queues: outbox.outbox.queues, clientConfig: outbox.sqs.clientConfig });
  const [, signal] = await once(child, "exit");
  expect(signal).toBe("SIGKILL");
  const copies = await outbox.pending();
  expect(copies).toHaveLength(20);
  const generations = copies.map(({ snapshot }) => snapshot?.generation).sort();
  expect(generations).toEqual([...Array(10).fill(1), ...Array(10).fill(2)]);

  await outbox.sqs.advance(120_000);
  const emitted: string[] = [];
  await drain({
    store: outbox.store,
    emitter: async ({ envelopeId }) => {
      emitted.push(envelopeId);
    },
  });
  expect(emitted).toHaveLength(20);
  expect(new Set(emitted).size).toBe(10);
  expect(await outbox.pending()).toEqual([]);
});
