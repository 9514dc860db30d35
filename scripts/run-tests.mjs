// The `test` script: every package's tests, then one summary over all of them.
// Arguments go to turbo: `pnpm test --filter @outbox/core`, `pnpm test --force`.
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { summarizeReports } from "./summarize-reports.mjs";
import { planTurbo, root, runTurbo } from "./turbo.mjs";

const reportFiles = new Map([
  ["test", "vitest.json"],
  ["test:node-test", "node-test.json"],
]);

// What a result depends on besides the sources: part of the cache key through OUTBOX_TEST_*.
const machineFacts = () => {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  const pgbouncer = folders.some((folder) => existsSync(join(folder, "pgbouncer")));
  return [process.version, process.platform, process.arch, process.getuid?.(), pgbouncer].join(" ");
};

/**
 * @param {string} path
 * @returns {Promise<import("./test-report.js").TestReport | undefined>}
 */
const readReport = async (path) =>
  existsSync(path) ? JSON.parse(await readFile(path, "utf8")) : undefined;

process.env.OUTBOX_TEST_MACHINE = machineFacts();
const turboArguments = [...reportFiles.keys(), ...process.argv.slice(2)];
const runs = planTurbo(turboArguments)
  .filter(({ task, command }) => reportFiles.has(task) && command !== "<NONEXISTENT>")
  .map(({ task, package: name, directory }) => ({
    name: task === "test" ? name : `${name} (${task.slice("test:".length)})`,
    path: join(root, directory, ".reports", reportFiles.get(task) ?? ""),
  }))
  .sort((a, b) => a.name.localeCompare(b.name));

await Promise.all(runs.map(({ path }) => rm(path, { force: true })));
const startedAt = new Date().toISOString();
const exitCode = await runTurbo([...turboArguments, "--continue=always"]);

const summary = summarizeReports(
  await Promise.all(runs.map(async ({ name, path }) => ({ name, report: await readReport(path) }))),
  { startedAt, exitCode },
);
await mkdir(join(root, ".reports"), { recursive: true });
await writeFile(join(root, ".reports", "totals.json"), `${JSON.stringify(summary.totals)}\n`);
console.log(summary.text);
process.exitCode = summary.ok ? 0 : 1;
