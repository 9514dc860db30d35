// @ts-check
/**
 * The watchdog's own program: stops one server and removes one folder as soon as its standard
 * input ends, which the operating system sees to however the process at the other end dies,
 * SIGKILL included.
 *
 * Plain JavaScript, because it is started with nothing but `node` and a path.
 *
 * Argument: the folder. Each line on standard input has the id of the process that runs in it now,
 * the leader of its group, and the signal that stops it; an empty line says that none does.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const [folder = ""] = process.argv.slice(2);
const patienceMs = 10_000;
let input = "";

// Also the name that `killall` and `pkill` go by: `killall -9 node` should leave this one alone.
process.title = `outbox-watchdog ${folder}`;
// Its one way out is the end of its input; a signal to everything must not stop a server that a
// program still needs for its own shutdown.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  input += text;
});
process.stdin.once("close", cleanUp);

async function cleanUp() {
  const [pid = "", signal] = (input.split("\n").at(-2) ?? "").split(" ");
  if (pid !== "") {
    await end(Number(pid), /** @type {NodeJS.Signals} */ (signal));
    if (isRunning(Number(pid))) await end(Number(pid), "SIGKILL");
  }
  removeSharedMemory();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
async function end(pid, signal) {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    return;
  }
  const deadline = Date.now() + patienceMs;
  while (isRunning(pid) && Date.now() < deadline) await delay(10);
}

/**
 * PostgreSQL keeps one small System V segment, of which a system has a limited number. If it was
 * killed, the segment stays, and so does the lock file that has its id.
 */
function removeSharedMemory() {
  try {
    const lockFile = readFileSync(join(folder, "data", "postmaster.pid"), "utf8");
    const [, id = ""] = /^ *\d+ +(\d+) *$/m.exec(lockFile) ?? [];
    if (id !== "") execFileSync("ipcrm", ["-m", id], { stdio: "ignore" });
  } catch {
    // It ended in good order, or the system is one without such segments.
  }
}

/**
 * A server that has ended counts as gone, even if its parent has not collected its exit code. Where
 * process 1 does not collect those of orphans (many containers), it never will be.
 *
 * @param {number} pid
 */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return !/^[ZX]/.test(processState(pid));
  } catch {
    return false;
  }
}

/** @param {number} pid */
function processState(pid) {
  if (process.platform === "win32") return "";
  if (process.platform !== "linux") {
    return execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "latin1" });
  }
  const line = readFileSync(`/proc/${pid}/stat`, "latin1");
  return line.slice(line.lastIndexOf(")") + 2);
}
