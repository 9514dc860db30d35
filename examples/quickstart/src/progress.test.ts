import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Progress } from "./progress.js";

const terminal = (properties: { isTTY?: boolean; columns?: number } = {}) => {
  const output = Object.assign(new PassThrough(), properties);
  return { output, written: () => String(output.read() ?? "") };
};

describe("Progress on a terminal", () => {
  it("draws its region over the one before", () => {
    const { output, written } = terminal({ isTTY: true, columns: 80 });
    const progress = new Progress({ output, lineIntervalMs: 0 });
    progress.update(["one", "two"], "");
    expect(written()).toBe("one\ntwo\n");
    progress.update(["three"], "");
    expect(written()).toBe("\u001b[1G\u001b[2A\u001b[0Jthree\n");
  });

  it("prints what stays above the region", () => {
    const { output, written } = terminal({ isTTY: true });
    const progress = new Progress({ output, lineIntervalMs: 0 });
    progress.update(["region"], "");
    written();
    progress.log("stays");
    expect(written()).toBe("\u001b[1G\u001b[1A\u001b[0Jstays\nregion\n");
    progress.clear();
    expect(written()).toBe("\u001b[1G\u001b[1A\u001b[0J");
  });

  it("cuts what would wrap", () => {
    const { output, written } = terminal({ isTTY: true, columns: 10 });
    new Progress({ output, lineIntervalMs: 0 }).update(["\u001b[31m123456789012\u001b[39m"], "");
    expect(written()).toBe("12345678…\n");
  });
});

describe("Progress elsewhere", () => {
  it("prints a plain line now and then", () => {
    const { output, written } = terminal();
    const progress = new Progress({ output, lineIntervalMs: 60_000 });
    progress.update(["region"], "first");
    progress.update(["region"], "too soon");
    progress.log("logged");
    progress.clear();
    expect(written()).toBe("first\nlogged\n");
  });
});
