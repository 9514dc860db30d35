import { expect, test } from "vitest";
import { DrainWorld } from "../testing-doubles/drain-world.js";
import { MortalProcess } from "../testing-doubles/mortal-process.js";

/** Restarts the process whenever it dies, as a supervisor would; returns how often it died. */
async function superviseUntilDone(world: DrainWorld, poison: readonly string[], batchSize = 100) {
  const emissionsPerProcess: (readonly string[])[] = [];
  for (let crashes = 0; crashes < 30; crashes++) {
    const process = new MortalProcess(world, {
      batchSize,
      isDeadly: (entryId) => poison.includes(entryId),
    });
    // Longer than a lease, so that what the last one held is claimed by this one.
    for (let step = 0; step < 100 && !process.isDead; step++) await world.timing.advance(5_000);
    emissionsPerProcess.push(process.emitted);
    if (!process.isDead) {
      await world.timing.during(process.worker.stop());
      return { crashes, emissionsPerProcess };
    }
  }
  throw new Error("the process dies again and again");
}

test("an entry that kills its process is dead-lettered alone, after at most five crashes", async () => {
  const world = new DrainWorld();
  await world.enqueue(1_000);
  const { crashes } = await superviseUntilDone(world, ["e50"]);
  expect(crashes).toBeLessThanOrEqual(5);
  expect(world.count("delivered")).toBe(999);
  expect(world.entry("e50")).toMatchObject({
    status: "dead-lettered",
    deadLetterReason: "outbox.max_abandoned_claims_exceeded",
    // It was never emitted to an end, so no emission failed.
    retryCount: 0,
    failures: [{ code: "outbox.max_abandoned_claims_exceeded" }],
  });
});

test("three such entries of one batch cost at most thirteen crashes, and no innocent", async () => {
  const world = new DrainWorld();
  await world.enqueue(1_000);
  const poison = ["e5", "e47", "e93"];
  const { crashes } = await superviseUntilDone(world, poison);
  expect(crashes).toBeLessThanOrEqual(13);
  expect(world.count("delivered")).toBe(997);
  expect(poison.map((id) => world.entry(id).status)).toEqual(poison.map(() => "dead-lettered"));
});

test("a whole batch of a thousand in flight changes nothing about that", async () => {
  const world = new DrainWorld();
  await world.enqueue(1_000);
  const { crashes } = await superviseUntilDone(world, ["e500"], 1_000);
  expect(crashes).toBeLessThanOrEqual(6);
  expect(world.count("delivered")).toBe(999);
  expect(world.count("dead-lettered")).toBe(1);
});

test("suspects are emitted with nothing else in flight", async () => {
  const world = new DrainWorld();
  await world.enqueue(30);
  const first = new MortalProcess(world, { batchSize: 10, emitConcurrency: 10 });
  await world.timing.settle();
  first.kill();
  await world.timing.advance(61_000);
  await world.enqueue(200);
  const inFlight = new Set<string>();
  const company = new Map<string, string[]>();
  const suspects = new Set(first.emitted);
  expect(suspects.size).toBeGreaterThan(0);
  const second = new MortalProcess(world, {
    emit: async (entryId) => {
      inFlight.add(entryId);
      await world.timing.sleep(20);
      if (suspects.has(entryId)) company.set(entryId, [...inFlight]);
      inFlight.delete(entryId);
    },
  });
  await world.timing.advance(60_000);
  expect(world.count("delivered")).toBe(230);
  expect(company.size).toBe(suspects.size);
  for (const beside of company.values()) {
    expect(beside.filter((entryId) => !suspects.has(entryId))).toEqual([]);
    expect(beside.length).toBeLessThanOrEqual(10);
  }
  await world.timing.during(second.worker.stop());
});

test("a worker that is killed six times in a row dead-letters nobody", async () => {
  const world = new DrainWorld();
  await world.enqueue(500);
  for (let kill = 0; kill < 6; kill++) {
    const process = new MortalProcess(world, { emit: () => world.timing.sleep(50) });
    await world.timing.advance(61_000 + kill * 37);
    process.kill();
    await world.enqueue(100);
    // Killed while this one emits what was just enqueued.
    const next = new MortalProcess(world, { emit: () => world.timing.sleep(50) });
    await world.timing.advance(70);
    next.kill();
  }
  const last = new MortalProcess(world);
  await world.timing.advance(1_200_000);
  expect(world.count("dead-lettered")).toBe(0);
  expect(world.count("delivered")).toBe(1_100);
  await world.timing.during(last.worker.stop());
});

test("a process that dies whatever it emits dead-letters nobody, and health says crash-loop", async () => {
  const world = new DrainWorld();
  await world.enqueue(1);
  let sick = true;
  for (let start = 0; start < 8; start++) {
    const process = new MortalProcess(world, { isDeadly: () => sick });
    await world.timing.advance(70_000);
    if (!process.isDead) {
      // It came to suspect the entry, and did not emit it: the process may be the cause.
      expect(process.worker.health()).toMatchObject({ crashLoop: true, status: "degraded" });
      process.kill();
    }
  }
  expect(world.count("dead-lettered")).toBe(0);
  expect(world.entry("e1")).toMatchObject({ soloAbandonedCount: 3 });
  // Mended: a delivery of something else shows that the process is well, so the entry is the cause.
  sick = false;
  await world.enqueue(1);
  const last = new MortalProcess(world);
  await world.timing.advance(300_000);
  expect(world.entry("e2").status).toBe("delivered");
  expect(world.entry("e1").status).toBe("dead-lettered");
  await world.timing.during(last.worker.stop());
});
