import { execFile } from "node:child_process";
import { getEventListeners } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createMemoryStore } from "../memory/create-memory-store.js";
import { createWorker } from "./create-worker.js";

const run = promisify(execFile);
const index = fileURLToPath(new URL("../index.ts", import.meta.url));

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("the condition did not come true");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("after a stop no timer is left", async () => {
  const before = timers();
  const store = createMemoryStore();
  let emitted = 0;
  const worker = createWorker({
    store,
    emitter: async () => {
      emitted += 1;
    },
  });
  for (let round = 0; round < 3; round++) {
    worker.start();
    await store.enqueue([{ type: "a" }, { type: "b" }]);
    await until(() => emitted === 2 * (round + 1));
    await worker.stop();
    expect(timers()).toBeLessThanOrEqual(before);
  }
});

test("10 000 emissions leave no listeners or timers, and the heap as it was", async () => {
  const before = timers();
  const store = createMemoryStore();
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.name);
  process.on("warning", onWarning);
  const signals: AbortSignal[] = [];
  let emitted = 0;
  const worker = createWorker({
    store,
    emitter: async (_, { signal }) => {
      emitted += 1;
      if (emitted % 1_000 === 0) signals.push(signal);
      await new Promise((resolve) => setImmediate(resolve));
    },
    emitConcurrency: 50,
  });
  worker.start();
  const heapAfterEachRound: number[] = [];
  for (let round = 1; round <= 10; round++) {
    await store.enqueue(Array.from({ length: 1_000 }, () => ({ type: "a" })));
    await until(() => emitted === round * 1_000 && worker.health().unfinalized === 0);
    // What is delivered stays in the store; only what the worker holds is of interest.
    await store.purge({ status: "delivered", olderThanMs: 0 });
    globalThis.gc?.();
    heapAfterEachRound.push(process.memoryUsage().heapUsed);
  }
  await worker.stop();
  process.off("warning", onWarning);

  expect(emitted).toBe(10_000);
  expect(warnings).not.toContain("MaxListenersExceededWarning");
  for (const signal of signals) expect(getEventListeners(signal, "abort")).toHaveLength(0);
  expect(timers()).toBeLessThanOrEqual(before);
  // Without --expose-gc garbage is part of it: only a coarse bound holds then.
  const growth = Math.min(...heapAfterEachRound.slice(-3)) - (heapAfterEachRound[1] ?? 0);
  expect(growth).toBeLessThan(60 * 1024 * 1024);
});

const startAndStop = `
  import { createMemoryStore, createWorker, drain } from ${JSON.stringify(index)};
  const store = createMemoryStore();
  const emitted = [];
  const emitter = async (envelope) => void emitted.push(envelope.type);
  await store.enqueue({ type: "a" });
  await drain({ store, emitter });
  const worker = createWorker({ store, emitter });
  worker.start();
  await store.enqueue({ type: "b" });
  while (emitted.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const begun = performance.now();
  await worker.stop();
  process.on("exit", () => {
    console.log(JSON.stringify({ emitted, quick: performance.now() - begun < 5_000 }));
  });
`;

test("a process that starts and stops a worker exits by itself, at once", async () => {
  const { stdout, stderr } = await run(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "--eval", startAndStop],
    { timeout: 25_000 },
  );
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ emitted: ["a", "b"], quick: true });
});
