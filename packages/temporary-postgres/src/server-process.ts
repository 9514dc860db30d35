import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { ServerAccount } from "./server-account.js";
import { serverEnvironment } from "./server-environment.js";
import { ServerStartError } from "./server-start-error.js";

export interface ServerProcessOptions {
  /** As it is called in error messages. */
  readonly name: string;
  readonly program: string;
  readonly arguments: readonly string[];
  readonly workingDirectory: string;
  /** Its output is appended here. */
  readonly logFile: string;
  readonly account: ServerAccount;
  /** What to check if it does not start. */
  readonly remedy: string;
  /** Called in the tick in which the process starts. */
  readonly onStart: (server: ChildProcess) => void;
  /** @param output - what the server has written since this start */
  readonly isReady: (server: ChildProcess, output: string) => boolean;
}

/** Generous: after a crash PostgreSQL replays its log before it accepts connections. */
const startTimeoutMs = 60_000;
/** After a signal that a server did not follow, before the next and harsher one. */
const endTimeoutMs = 30_000;
const pollIntervalMs = 10;

/**
 * Starts a server and resolves when it is ready. The server does not keep this process alive.
 *
 * @throws {@link ServerStartError}
 */
export async function startServerProcess(options: ServerProcessOptions): Promise<ChildProcess> {
  const previousOutput = readOutput(options.logFile, 0).length;
  const { server, failure } = spawnServer(options);
  options.onStart(server);

  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const ended = !isAlive(server);
    const output = readOutput(options.logFile, previousOutput);
    if (!ended && options.isReady(server, output)) return server;
    if (!ended && Date.now() < deadline) {
      await delay(pollIntervalMs);
      continue;
    }
    await endServerProcess(server, "SIGQUIT");
    const what = ended ? "ended while it started" : `was not ready after ${startTimeoutMs} ms`;
    throw new ServerStartError(`${options.name} ${what}`, output, options.remedy, failure());
  }
}

/**
 * Ends the server, if it still runs, and resolves when it has ended.
 *
 * @param signal - harsher ones follow if it does not end, as when one of its processes is stopped
 */
export async function endServerProcess(
  server: ChildProcess,
  signal: NodeJS.Signals,
): Promise<void> {
  const signals = [signal, "SIGQUIT", "SIGKILL"] as const;
  for (let step = 0; isAlive(server); step++) {
    server.ref();
    server.kill(signals[step] ?? "SIGKILL");
    // Only the end of the patience throws.
    await once(server, "exit", { signal: AbortSignal.timeout(endTimeoutMs) }).catch(
      () => undefined,
    );
  }
}

function spawnServer(options: ServerProcessOptions) {
  // A file rather than a pipe: the server must be able to write when this process is gone.
  const log = openSync(options.logFile, "a");
  const server = spawn(options.program, options.arguments, {
    ...options.account,
    cwd: options.workingDirectory,
    // Out of reach of Ctrl-C, so that the program can finish its own shutdown first.
    detached: true,
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
    windowsHide: true,
  });
  closeSync(log);
  let failure: Error | undefined;
  server.once("error", (error) => {
    failure = error;
  });
  server.unref();
  return { server, failure: () => failure };
}

function isAlive(server: ChildProcess): boolean {
  return server.pid !== undefined && server.exitCode === null && server.signalCode === null;
}

function readOutput(logFile: string, from: number): string {
  try {
    return readFileSync(logFile).subarray(from).toString("utf8");
  } catch {
    return "";
  }
}
