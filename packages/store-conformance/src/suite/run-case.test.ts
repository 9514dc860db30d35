import { memoryCapabilities } from "@outbox/core";
import { describe, expect, test } from "vitest";
import { createMemoryHarness } from "../memory/create-memory-harness.js";
import { findCase } from "./all-cases.js";
import { describeSubject } from "./case-subject.js";
import type { ConformanceCase } from "./conformance-case.js";
import { decideCase, runCase } from "./run-case.js";

const subjectOf = async (timeMode: "clock" | "wait") =>
  describeSubject(await createMemoryHarness({ timeMode }).createOutbox(), memoryCapabilities);

const caseWith = (part: Partial<ConformanceCase>): ConformanceCase => ({
  id: "A1-example",
  invariant: "A1",
  title: "example",
  requires: () => "run",
  run: async () => undefined,
  ...part,
});

describe("whether a case runs", () => {
  test("one that takes longer than five seconds is not waited for, and says so", async () => {
    const long = caseWith({ passesLeases: 3 });
    expect(decideCase(long, await subjectOf("clock"))).toBe("run");
    expect(decideCase(long, await subjectOf("wait"))).toEqual({
      notRun: expect.stringContaining("must be waited for"),
    });
    expect(decideCase(caseWith({ passesLeases: 2 }), await subjectOf("wait"))).toBe("run");
  });

  test("one that answers negative must have a negative side", async () => {
    const broken = caseWith({ requires: () => "negative" });
    const subject = await subjectOf("clock");
    expect(() => decideCase(broken, subject)).toThrow("A1-example");
  });
});

test("time that must be waited for is enough for a lease to end", { timeout: 10_000 }, async () => {
  await runCase(
    findCase("A5-expired-lease-blocks-nobody"),
    createMemoryHarness({ timeMode: "wait" }),
    {
      capabilities: memoryCapabilities,
      decision: "run",
    },
  );
});

test("what the case says is heard even if closing fails too", async () => {
  const good = createMemoryHarness();
  const harness = {
    ...good,
    createOutbox: async () => ({
      ...(await good.createOutbox()),
      close: async () => {
        throw new Error("close failed");
      },
    }),
  };
  const options = { capabilities: memoryCapabilities, decision: "run" } as const;
  const failing = caseWith({
    run: async () => {
      throw new Error("the case failed");
    },
  });
  await expect(runCase(failing, harness, options)).rejects.toThrow("the case failed");
  await expect(runCase(caseWith({}), harness, options)).rejects.toThrow("close failed");
});
