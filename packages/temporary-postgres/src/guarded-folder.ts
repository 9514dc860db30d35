import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ServerAccount } from "./server-account.js";
import { temporaryPath } from "./temporary-path.js";

/** A temporary folder that, like the server that runs in it, does not outlive this process. */
export interface GuardedFolder {
  readonly path: string;
  /**
   * Takes charge of a process that was just started, detached; call it in the same tick as `spawn`.
   *
   * @param stopSignal - after which it ends soon; SIGKILL follows if it does not
   */
  watch(server: ChildProcess, stopSignal: NodeJS.Signals): void;
  /** Stops the server, removes the folder, and resolves when both are gone. */
  release(): Promise<void>;
}

const program = fileURLToPath(new URL("./watchdog.js", import.meta.url));
const guardedFolders = new Set<WatchedFolder>();

export interface GuardedFolderOptions {
  /** What the folder's name starts with. */
  readonly prefix: string;
  /** Owner of the folder; nobody else, except root, can enter it. */
  readonly account: ServerAccount;
}

/**
 * Creates a temporary folder and a watchdog for it.
 *
 * A child process does the cleaning, not signal handlers in this one: a handler cannot run after
 * SIGKILL, takes the default action of a signal away from the program, and competes with the
 * handlers of that program. This way a signal ends the program exactly as if no server were there,
 * and a program with handlers of its own stops the server when it is ready to.
 */
export async function createGuardedFolder(options: GuardedFolderOptions): Promise<GuardedFolder> {
  const { prefix, account } = options;
  // The watchdog comes first, so that there is no moment at which only the folder is there.
  const guarded = new WatchedFolder(temporaryPath(prefix, account));
  if (guardedFolders.size === 0) process.on("exit", cleanUpAtExit);
  guardedFolders.add(guarded);
  try {
    await mkdir(guarded.path, { mode: 0o700 });
    if (account.uid !== undefined && account.gid !== undefined) {
      await chown(guarded.path, account.uid, account.gid);
    }
    return guarded;
  } catch (error) {
    await guarded.release();
    throw error;
  }
}

class WatchedFolder implements GuardedFolder {
  #watchdog: ChildProcess;
  #server: ChildProcess | undefined;
  #stopSignal: NodeJS.Signals = "SIGKILL";

  constructor(readonly path: string) {
    this.#watchdog = this.#startWatchdog();
  }

  watch(server: ChildProcess, stopSignal: NodeJS.Signals): void {
    this.#server = server;
    this.#stopSignal = stopSignal;
    this.#report();
    server.once("exit", () => {
      if (this.#server !== server) return;
      // Its number may be another process's before long.
      this.#server = undefined;
      this.#report();
    });
  }

  async release(): Promise<void> {
    if (this.#watchdog.exitCode !== null || this.#watchdog.signalCode !== null) {
      // Someone killed it; a second one finishes its work.
      this.#watchdog = this.#startWatchdog();
      this.#report();
    }
    const ended = once(this.#watchdog, "exit");
    this.#watchdog.ref();
    this.#watchdog.stdin?.end();
    await ended;
    guardedFolders.delete(this);
    if (guardedFolders.size === 0) process.off("exit", cleanUpAtExit);
    if (existsSync(this.path)) {
      throw new Error(`The temporary folder ${this.path} is still there; remove it by hand.`);
    }
  }

  /** For the end of this process, when nothing asynchronous runs any more. */
  releaseSync(): void {
    spawnSync(process.execPath, this.#arguments(), {
      ...this.#spawnOptions(),
      stdio: ["pipe", "ignore", "ignore"],
      input: this.#serverLine(),
    });
  }

  #startWatchdog(): ChildProcess {
    const watchdog = spawn(process.execPath, this.#arguments(), {
      ...this.#spawnOptions(),
      // A session of its own: neither Ctrl-C nor a signal to the whole group reaches it.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    // Writing to a watchdog that was killed is no reason to fail; `release` deals with it.
    watchdog.stdin?.on("error", () => undefined);
    watchdog.on("error", () => undefined);
    watchdog.unref();
    if (watchdog.pid !== undefined) return watchdog;
    throw new Error("No process can be started to watch the server; this user may have too many.");
  }

  #arguments(): string[] {
    return [program, this.path];
  }

  #spawnOptions(): SpawnOptions {
    // Loaders and debuggers that this process runs under are none of the watchdog's business.
    const { NODE_OPTIONS: _, ...env } = process.env;
    return { cwd: "/", env, windowsHide: true };
  }

  #report(): void {
    this.#watchdog.stdin?.write(this.#serverLine());
  }

  #serverLine(): string {
    return this.#server?.pid === undefined ? "\n" : `${this.#server.pid} ${this.#stopSignal}\n`;
  }
}

/**
 * The watchdogs would do this a moment later. Waiting for it means that nothing is left when the
 * shell, or the next step of a build, carries on.
 */
function cleanUpAtExit(): void {
  for (const guarded of guardedFolders) guarded.releaseSync();
}
