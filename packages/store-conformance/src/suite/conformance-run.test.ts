import { memoryCapabilities } from "@outbox/core";
import { expect, test } from "vitest";
import { createMemoryHarness } from "../memory/create-memory-harness.js";
import { withOverrides } from "../mutants/with-overrides.js";
import { conformanceCases, findCase } from "./all-cases.js";
import { ConformanceRun } from "./conformance-run.js";
import { invariantIds } from "./invariants.js";

const memory = {
  name: "example",
  capabilities: memoryCapabilities,
  harness: () => createMemoryHarness(),
};

test("every case has an id of its own, which begins with its invariant", () => {
  const ids = conformanceCases.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, invariant } of conformanceCases)
    expect(id.startsWith(`${invariant}-`)).toBe(true);
});

test("every invariant has cases", () => {
  const covered = new Set(conformanceCases.map(({ invariant }) => invariant));
  expect(invariantIds.filter((id) => !covered.has(id))).toEqual([]);
});

test("a case that is skipped is reported, with the store's reason", async () => {
  const run = new ConformanceRun({ ...memory, skip: { "A2-max-count": "known, see the docs" } });
  await run.open();
  const report = await run.run(findCase("A2-max-count"));
  await run.close();
  expect(report.outcome).toBe("not-run");
  expect(run.matrix()).toContain("known, see the docs: A2-max-count");
});

test("skipping a case that does not exist is refused", () => {
  expect(() => new ConformanceRun({ ...memory, skip: { "A2-typo": "why" } })).toThrow("A2-typo");
});

test("the matrix tells what passed, failed, was not run and was left out", async () => {
  const run = new ConformanceRun({
    ...memory,
    harness: () =>
      createMemoryHarness({
        layer: (driver) =>
          withOverrides(driver, {
            claim: (command: Parameters<typeof driver.claim>[0]) =>
              driver.claim({ ...command, maxCount: command.maxCount + 1 }),
          }),
      }),
  });
  await run.open();
  for (const id of ["A2-max-count", "A4-stamp", "A1-processes", "A10-rolled-back-is-nothing"]) {
    await run.run(findCase(id));
  }
  await run.close();
  const matrix = run.matrix();
  expect(matrix).toContain("1 run, 1 negative, 1 not run, 1 failed");
  expect(matrix).toContain("left out by the runner's own filter");
  expect(matrix).toContain("✗max-count");
  expect(matrix).toContain("✓stamp");
  expect(matrix).toContain("−rolled-back-is-nothing");
  expect(matrix).toContain("○processes");
  expect(matrix).toContain("not run (1): the harness has no `processes`");
});
