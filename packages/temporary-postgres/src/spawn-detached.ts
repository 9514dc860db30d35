import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { ServerAccount } from "./server-account.js";

export interface DetachedProgram {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly workingDirectory: string;
  /** Its output is appended here. */
  readonly logFile: string;
  readonly account: ServerAccount;
}

/**
 * Starts a program in a session of its own: Ctrl-C does not reach it, so that this process can
 * finish its own shutdown first. It does not keep this process alive.
 */
export function spawnDetached(options: DetachedProgram): ChildProcess {
  // A file rather than a pipe: a server must be able to write when this process is gone.
  const log = openSync(options.logFile, "a");
  try {
    const child = spawn(options.program, options.arguments, {
      ...options.account,
      cwd: options.workingDirectory,
      detached: true,
      env: serverEnvironment(),
      stdio: ["ignore", log, log],
      windowsHide: true,
    });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

/** This process's environment, without what would change how a server or `initdb` behaves. */
function serverEnvironment(): NodeJS.ProcessEnv {
  // PGPORT, PGDATA, PGOPTIONS and their kind are meant for the developer's own server.
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("PG"));
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}
