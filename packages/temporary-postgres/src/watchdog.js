// @ts-check
/**
 * The watchdog's own program: stops one server and removes one folder as soon as its standard
 * input ends, which the operating system sees to however the process that started it came to an
 * end, SIGKILL included.
 *
 * Plain JavaScript, because it is started with nothing but `node` and a path.
 *
 * Arguments: the folder, and the signal that stops the server. Each line on standard input is the
 * process id of the server that runs now; an empty line says that none does.
 */
import { readFileSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const [folder, stopSignal] = process.argv.slice(2);
const patienceMs = 10_000;
let input = "";
let cleaning = false;

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // Where process 1 does not collect orphans (many containers), an ended server stays a zombie.
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return process.platform !== "linux";
  }
}

/** @param {number} pid @param {NodeJS.Signals} signal */
async function end(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    return;
  }
  for (const deadline = Date.now() + patienceMs; isRunning(pid) && Date.now() < deadline; ) {
    await delay(10);
  }
}

async function cleanUp() {
  if (cleaning) return;
  cleaning = true;
  const pid = Number(input.split("\n").at(-2) ?? "");
  if (pid > 0) {
    await end(pid, /** @type {NodeJS.Signals} */ (stopSignal));
    if (isRunning(pid)) await end(pid, "SIGKILL");
  }
  if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  process.exit();
}

// These reach the watchdog only when they are meant for it: it has a session of its own.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, cleanUp);
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  input += text;
});
process.stdin.on("close", cleanUp);
