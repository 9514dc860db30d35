// Runs turbo for the root scripts: local cache only, no telemetry, no update notice.
import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binary = join(root, "node_modules", "turbo", "bin", "turbo");

/** @returns {NodeJS.ProcessEnv} */
const environment = () => {
  const path = process.env.PATH ?? "";
  const packageManager = process.env.npm_execpath;
  return {
    ...process.env,
    // turbo starts each task with `pnpm` from the PATH: let it be the one that runs this script.
    PATH: packageManager?.includes("pnpm") ? dirname(packageManager) + delimiter + path : path,
    TURBO_NO_UPDATE_NOTIFIER: "1",
    TURBO_TELEMETRY_DISABLED: "1",
  };
};

/** @param {string[]} args */
const commandLine = (args) => {
  const fresh = Boolean(process.env.CI) || args.includes("--force");
  return [
    binary,
    "run",
    ...args.filter((argument) => argument !== "--force"),
    // What turbo calls --force, without its remote cache.
    `--cache=local:${fresh ? "w" : "rw"}`,
    `--concurrency=${Math.max(1, Math.floor(availableParallelism() / 2))}`,
  ];
};

/**
 * Runs tasks with their output on this terminal; signals sent to this process reach turbo.
 *
 * @param {string[]} args what `turbo run` gets: task names, then filters and flags
 * @returns {Promise<number>} the exit code
 */
export const runTurbo = (args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, commandLine(args), {
      cwd: root,
      env: environment(),
      stdio: "inherit",
    });
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
      process.on(signal, () => child.kill(signal));
    }
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });

/**
 * The tasks that a run would have, without running them.
 *
 * @param {string[]} args
 * @returns {{ taskId: string, task: string, package: string, directory: string, command: string }[]}
 */
export const planTurbo = (args) => {
  const plan = spawnSync(process.execPath, [...commandLine(args), "--dry=json"], {
    cwd: root,
    env: environment(),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (plan.status !== 0) throw new Error(`turbo cannot plan "${args.join(" ")}":\n${plan.stderr}`);
  return JSON.parse(plan.stdout).tasks;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await runTurbo(process.argv.slice(2));
}
