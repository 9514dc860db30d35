import { expect, onTestFinished, test, vi } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { type EmissionCall, obeysSignal } from "../testing-doubles/recording-emitter.js";
import { ScriptedStore } from "../testing-doubles/scripted-store.js";
import {
  answeringAfter,
  failing,
  replyLost,
  type StoreFault,
  silent,
} from "../testing-doubles/store-fault.js";
import { OutboxWorkerLoop } from "./outbox-worker-loop.js";

const entries = 40;

/** A small generator of numbers in [0, 1), the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Two workers, a store and an emitter that fail at random, and a process that stalls. */
async function run(seed: number) {
  const random = randomOf(seed);
  vi.spyOn(Math, "random").mockImplementation(random);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  // A wall clock that is set back hides a suspension, so it is one or the other.
  const canSuspend = seed % 2 === 0;
  const world = new DrainWorld();
  const { timing, emitter } = world;
  const faults: readonly StoreFault[] = [
    failing(),
    failing("unknown-outcome"),
    failing("permanent"),
    replyLost,
    silent,
    answeringAfter(3_000, timing),
  ];
  let isCalm = false;
  const overlaps: string[] = [];
  const running = new Map<string, EmissionCall>();
  // A process that stands still cannot abort what it runs.
  const stalled = new Set<EmissionCall>();
  emitter.behave = (call) => {
    const before = running.get(call.entryId);
    if (before !== undefined && !before.context.signal.aborted && !stalled.has(before)) {
      overlaps.push(call.entryId);
    }
    running.set(call.entryId, call);
    const dice = isCalm ? 1 : random();
    const end = () => {
      if (running.get(call.entryId) === call) running.delete(call.entryId);
    };
    if (dice < 0.1) {
      end();
      throw new Error("at random");
    }
    if (dice < 0.2) return obeysSignal(call);
    return timing.sleep(random() * 4_000).then(end);
  };
  const workers = [0, 1].map(() => {
    const scripted = new ScriptedStore(world.memory);
    for (const operation of ["claim", "completeClaims", "extendClaims"] as const) {
      scripted.always(operation, (call) => {
        const fault = isCalm || random() > 0.25 ? undefined : faults[Math.floor(random() * 6)];
        return fault === undefined ? call() : fault(call);
      });
    }
    const options = { emitConcurrency: 4, batchSize: 10, leaseDurationMs: 9_000 };
    const limits = { emitTimeoutMs: 6_000, retryDelayMs: 500, maxRetryDelayMs: 2_000 };
    const given = { store: scripted.store, emitter, ...options, ...limits };
    return new OutboxWorkerLoop(given, timing);
  });
  for (const worker of workers) worker.start();
  for (let step = 0; step < 40; step++) {
    if (step < 20) await world.enqueue(entries / 20);
    await timing.advance(random() * 2_000);
    if (random() < 0.2) {
      for (const call of running.values()) stalled.add(call);
      if (canSuspend && random() < 0.5) timing.suspend(random() * 15_000);
      else timing.block(random() * 15_000);
    }
    if (!canSuspend && random() < 0.1) timing.stepWall((random() - 0.5) * 20_000_000);
    const worker = workers[Math.floor(random() * 2)];
    if (random() < 0.1) void worker?.stop({ timeoutMs: random() * 3_000 });
    worker?.start();
  }
  isCalm = true;
  for (const worker of workers) worker.start();
  await timing.advance(180_000);
  const health = workers.map((worker) => worker.health());
  await timing.during(Promise.all(workers.map((worker) => worker.stop())));
  return { world, overlaps, health };
}

test.each(Array.from({ length: 10 }, (_, index) => index + 1))(
  "whatever went wrong, everything is delivered in the end (seed %d)",
  async (seed) => {
    const { world, overlaps, health } = await run(seed);
    expect(world.count("delivered")).toBe(entries);
    expect(world.leased).toBe(0);
    for (const { status, unfinalized } of health) {
      expect({ status, unfinalized }).toEqual({ status: "healthy", unfinalized: 0 });
    }
    // Nobody emits what another emits under a lease that it may still trust.
    expect(overlaps).toEqual([]);
    expect(world.timing.sleeping).toBe(0);
  },
);
