import { memoryCapabilities } from "@outbox/core";
import { expect, test } from "vitest";
import { createMemoryHarness } from "../memory/create-memory-harness.js";
import { mutants } from "./all-mutants.js";
import type { Mutant } from "./mutant.js";
import { MutantRun } from "./mutant-run.js";

const memory = {
  name: "example",
  capabilities: memoryCapabilities,
  harness: () => createMemoryHarness(),
};

const tryMutant = async (mutant: Mutant) => {
  const run = new MutantRun({ ...memory, mutants: [mutant], only: [mutant.id] });
  await run.open();
  try {
    return { report: await run.run(mutant), table: run.table() };
  } finally {
    await run.close();
  }
};

test("every mutant has an id of its own", () => {
  expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
});

test("a mutant that its case does not notice survives", async () => {
  const { report, table } = await tryMutant({
    id: "harmless",
    description: "changes nothing",
    killedBy: "A4-stamp",
    wrap: (driver) => driver,
  });
  expect(report.outcome).toBe("survived");
  expect(table).toContain("0 killed, 1 survived, 0 not run");
  expect(table).toContain("SURVIVED  harmless");
});

test("a mutant that breaks by itself proves nothing", async () => {
  const broken = tryMutant({
    id: "broken",
    description: "does not even work wrongly",
    killedBy: "A4-stamp",
    wrap: (driver) => {
      throw new TypeError(`not a driver: ${driver.name}`);
    },
  });
  await expect(broken).rejects.toThrow("out of order");
});

test("a case that fails on the good store proves nothing either", async () => {
  const run = new MutantRun({
    ...memory,
    capabilities: { ...memoryCapabilities, maxParkedAgeMs: 1 },
    only: ["capability-left-out"],
  });
  await run.open();
  const [mutant] = run.mutants;
  if (mutant === undefined) throw new Error("the mutant is there");
  await expect(run.run(mutant)).rejects.toThrow("maxParkedAgeMs");
  await run.close();
});

test("naming a mutant or a case that does not exist is refused", () => {
  expect(() => new MutantRun({ ...memory, only: ["typo"] })).toThrow("typo");
});
