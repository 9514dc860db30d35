import { expect, test } from "vitest";
import type { BatchMember, Emitter } from "../contract/emitter.js";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { OutboxWorkerLoop } from "./outbox-worker-loop.js";
import type { WorkerOptions } from "./worker-options.js";

const idOf = ({ context }: BatchMember) => context.entry.entryId;

async function run(emitter: Emitter, count = 100, options: Partial<WorkerOptions> = {}) {
  const world = new DrainWorld();
  await world.enqueue(count);
  const { store, timing } = world;
  const worker = new OutboxWorkerLoop({ store, emitter, ...options }, timing);
  worker.start();
  await timing.advance(120_000);
  await timing.during(worker.stop());
  return world;
}

test("entries that wait are emitted in batches, with a result each", async () => {
  const sizes: number[] = [];
  const error = { code: "no", message: "no", isRetryable: false };
  const world = await run(
    {
      emit: () => ({ status: "delivered" }),
      maxBatchSize: 25,
      emitBatch: async (batch) => {
        sizes.push(batch.length);
        return batch.map((member) =>
          idOf(member) === "e7" ? { status: "failed", error } : { status: "delivered" },
        );
      },
    },
    100,
  );
  expect(sizes).toEqual([25, 25, 25, 25]);
  expect(world.count("delivered")).toBe(99);
  expect(world.entry("e7").status).toBe("failed");
});

test.each([
  ["throws", () => Promise.reject(new Error("whole"))],
  ["returns too few results", () => Promise.resolve([{ status: "delivered" } as const])],
  ["never answers", () => new Promise<never>(() => {})],
])("a batch that %s counts nothing, and is emitted one by one", async (_, emitBatch) => {
  const singles: string[] = [];
  const world = await run(
    {
      emitBatch,
      emit: (_envelope, { entry }) => {
        singles.push(entry.entryId);
        if (entry.entryId === "e3") throw new Error("the bad one");
      },
    },
    20,
    { emitTimeoutMs: 1_000, retryDelayMs: 100_000_000 },
  );
  expect(new Set(singles).size).toBe(20);
  expect(world.count("delivered")).toBe(19);
  expect(world.entry("e3")).toMatchObject({ status: "retryable-failure", retryCount: 1 });
});
