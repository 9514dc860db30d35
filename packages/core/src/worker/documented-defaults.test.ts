import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drainDefaults } from "../drain/drain-options.js";
import { drainOptionKeys } from "../drain/resolve-drain-options.js";
import { workerDefaults } from "./worker-options.js";

const page = readFileSync(new URL("../../../../docs/worker.md", import.meta.url), "utf8");
const documented = new Map(
  [...page.matchAll(/^\| `(\w+)` \| ([^|]*) \|/gm)].map(([, option, value]) => [option, value]),
);

/** Defaults that are computed, or none. */
const inWords: Record<string, string> = {
  store: "required",
  emitter: "required",
  workerId: "host, pid and a random part",
  leaseMarginMs: "max(1 000, lease / 10)",
  types: "the emitter's own",
  retryForMs: "unset",
  retryDelay: "unset",
  circuit: "10 failures, probes 1 000 to 60 000",
  rateLimits: "unset",
  observer: "unset",
  logger: "silent",
  unhealthyAfterMs: `max(${grouped(workerDefaults.unhealthyAfterMs)}, 3 polls, emitTimeoutMs)`,
};

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, " ");
}

function shown(option: string, value: unknown): string {
  if (option === "maxBatchBytes") return `${Number(value) / 1024 / 1024} MiB`;
  if (typeof value === "number") return grouped(value);
  return typeof value === "string" ? `\`${value}\`` : String(value);
}

test("docs/worker.md names every option with the default that the code has", () => {
  const expected = new Map<string, string>();
  for (const option of [...drainOptionKeys, ...Object.keys(workerDefaults)]) {
    const value = { ...drainDefaults, ...workerDefaults }[option as keyof typeof drainDefaults];
    expected.set(option, inWords[option] ?? shown(option, value));
  }
  expect(Object.fromEntries(documented)).toMatchObject(Object.fromEntries(expected));
  const tableOfOptions = [...documented.keys()].filter((name) => expected.has(name ?? ""));
  expect(tableOfOptions).toHaveLength(expected.size);
});
