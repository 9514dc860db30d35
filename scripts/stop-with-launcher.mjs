// Ends this process with SIGTERM when the npx, npm or pnpm that launched it is gone. A signal that
// reaches only npx ends it and the shell it started, but neither pnpm nor what pnpm runs.
// Use: node --import ./scripts/stop-with-launcher.mjs ...
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const packageManager = /\b(npx|npm|pnpm|pnpx)\b/;
const launcher = /\b(npx|npm|pnpm|pnpx)\b| -c /;

/**
 * @param {number} pid
 * @returns {{ pid: number, parent: number, command: string }}
 */
const describeProcess = (pid) => {
  if (process.platform === "linux") {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    // The name before ")" is free text; the state and the parent follow it.
    return { pid, parent: Number(stat.slice(stat.lastIndexOf(")")).split(" ")[2]), command };
  }
  const line = execFileSync("ps", ["-o", "ppid=,args=", "-p", String(pid)], { encoding: "utf8" });
  return { pid, parent: Number.parseInt(line, 10), command: line.trim() };
};

/** The processes from this one's parent up to the outermost package manager. */
const findLaunchers = () => {
  const chain = [];
  try {
    for (let pid = process.ppid; pid > 1 && chain.length < 8; ) {
      const ancestor = describeProcess(pid);
      if (!launcher.test(ancestor.command)) break;
      chain.push(ancestor);
      pid = ancestor.parent;
    }
  } catch {
    return []; // no way to look at processes here, so nothing is watched
  }
  const outermost = chain.findLastIndex(({ command }) => packageManager.test(command));
  return chain.slice(0, outermost + 1).map(({ pid }) => pid);
};

/** @param {number} pid */
const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
};

const launchers = process.platform === "win32" ? [] : findLaunchers();
if (launchers.length > 0) {
  const watch = setInterval(() => {
    if (launchers.every(isAlive)) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 500).unref();
}
