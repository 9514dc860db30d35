import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Sees to it that a temporary folder, and the server that runs in it, do not outlive this process. */
export interface FolderGuard {
  /** Takes charge of a server that was just started; call it in the same tick as `spawn`. */
  watch(server: ChildProcess): void;
  /** Stops the server, removes the folder, and resolves when both are gone. */
  release(): Promise<void>;
}

export interface FolderGuardOptions {
  readonly folder: string;
  /** The signal after which the server ends soon; SIGKILL follows if it does not. */
  readonly stopSignal: NodeJS.Signals;
}

const program = fileURLToPath(new URL("./watchdog.js", import.meta.url));
const patienceAtExitMs = 5_000;
const guarded = new Map<string, ChildProcess>();

/**
 * Starts the watchdog of `folder`.
 *
 * A child process does the cleaning, not signal handlers in this one: a handler cannot run after
 * SIGKILL, takes the default action of a signal away from the program, and competes with the
 * handlers of that program. This way a signal still ends the program exactly as if no server were
 * there, and a program with handlers of its own can stop the server whenever it is ready to.
 */
export function guardFolder(options: FolderGuardOptions): FolderGuard {
  const { folder } = options;
  if (guarded.size === 0) process.on("exit", cleanUpAtExit);
  let watchdog = startWatchdog(options);
  guarded.set(folder, watchdog);

  const report = (line: string) => {
    watchdog.stdin?.write(`${line}\n`);
  };
  let running: ChildProcess | undefined;

  return {
    watch(server) {
      running = server;
      report(String(server.pid ?? ""));
      server.once("exit", () => {
        if (running !== server) return;
        running = undefined;
        report("");
      });
    },
    async release() {
      if (watchdog.exitCode !== null || watchdog.signalCode !== null) {
        // Someone killed the watchdog; a second one finishes its work.
        watchdog = startWatchdog(options);
        report(String(running?.pid ?? ""));
      }
      const ended = once(watchdog, "exit");
      watchdog.ref();
      watchdog.stdin?.end();
      await ended;
      guarded.delete(folder);
      if (guarded.size === 0) process.off("exit", cleanUpAtExit);
      if (existsSync(folder)) {
        throw new Error(`The temporary folder ${folder} could not be removed; remove it by hand.`);
      }
    },
  };
}

function startWatchdog({ folder, stopSignal }: FolderGuardOptions): ChildProcess {
  // Loaders and debuggers that this process runs under are none of the watchdog's business.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const watchdog = spawn(process.execPath, [program, folder, stopSignal], {
    cwd: "/",
    // A session of its own: Ctrl-C in the terminal, or a signal to the whole group, passes it by.
    detached: true,
    env,
    stdio: ["pipe", "ignore", "ignore"],
    windowsHide: true,
  });
  watchdog.once("error", () => undefined);
  // Writing to a watchdog that was killed is not a reason to fail; `release` deals with it.
  watchdog.stdin?.on("error", () => undefined);
  watchdog.unref();
  return watchdog;
}

/** Waits, so that nothing is left by the time the shell or the next test step carries on. */
function cleanUpAtExit(): void {
  for (const watchdog of guarded.values()) watchdog.kill("SIGTERM");
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const deadline = Date.now() + patienceAtExitMs;
  while (Date.now() < deadline && [...guarded.keys()].some((folder) => existsSync(folder))) {
    Atomics.wait(sleeper, 0, 0, 10);
  }
}
