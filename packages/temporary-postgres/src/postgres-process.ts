import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ServerAccount } from "./server-account.js";
import { serverEnvironment } from "./server-environment.js";

export interface PostgresProcessOptions {
  readonly program: string;
  readonly dataDirectory: string;
  readonly logFile: string;
  readonly account: ServerAccount;
  readonly port: number;
  /** Called in the tick in which the process starts. */
  readonly onStart: (server: ChildProcess) => void;
}

/** The server did not come up because something else listens on its port. */
export class PortTakenError extends Error {
  override readonly name = "PortTakenError";
}

/** After a crash the server replays its log before it accepts connections. */
const startTimeoutMs = 120_000;

/** Starts the server and resolves when it accepts connections. */
export async function startPostgresProcess(options: PostgresProcessOptions): Promise<ChildProcess> {
  const logLengthBefore = (await readLog(options.logFile)).length;
  // To a file rather than a pipe: the server must be able to write after this process has ended.
  const log = openSync(options.logFile, "a");
  const server = spawn(options.program, ["-D", options.dataDirectory, "-p", String(options.port)], {
    ...options.account,
    cwd: options.dataDirectory,
    // Out of reach of Ctrl-C, so that the program can finish its own shutdown first.
    detached: true,
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
    windowsHide: true,
  });
  closeSync(log);
  let spawnError: Error | undefined;
  server.once("error", (error) => {
    spawnError = error;
  });
  options.onStart(server);
  server.unref();

  const deadline = Date.now() + startTimeoutMs;
  while (!(await isReady(options.dataDirectory, server))) {
    const ended = spawnError !== undefined || !isAlive(server);
    if (!ended && Date.now() < deadline) {
      await delay(10);
      continue;
    }
    if (!ended) await endPostgresProcess(server, "SIGQUIT");
    const written = (await readLog(options.logFile)).slice(logLengthBefore);
    throw startError(options, written, spawnError, ended);
  }
  return server;
}

/** Sends the signal, if the process still runs, and resolves when it has ended. */
export async function endPostgresProcess(
  server: ChildProcess,
  signal: NodeJS.Signals,
): Promise<void> {
  if (!isAlive(server)) return;
  const exit = once(server, "exit");
  server.ref();
  server.kill(signal);
  await exit;
}

function isAlive(server: ChildProcess): boolean {
  return server.pid !== undefined && server.exitCode === null && server.signalCode === null;
}

/** The same file and lines that `pg_ctl start --wait` looks at. */
async function isReady(dataDirectory: string, server: ChildProcess): Promise<boolean> {
  const file = await readFile(join(dataDirectory, "postmaster.pid"), "utf8").catch(() => "");
  const lines = file.split("\n");
  return lines[0] === String(server.pid) && lines[7]?.trim() === "ready";
}

async function readLog(logFile: string): Promise<string> {
  return readFile(logFile, "utf8").catch(() => "");
}

function startError(
  { port }: PostgresProcessOptions,
  log: string,
  cause: Error | undefined,
  ended: boolean,
): Error {
  const tail = log.trimEnd().split("\n").slice(-20).join("\n");
  if (/could not bind .*address|could not create any TCP\/IP sockets/i.test(log)) {
    return new PortTakenError(
      `Port ${port} of 127.0.0.1 is taken; free it or start on another.\n${tail}`,
    );
  }
  const what = ended ? "ended while it started" : `did not start within ${startTimeoutMs / 1000} s`;
  return new Error(
    `The temporary PostgreSQL ${what}. Its log ends with:\n${tail || "(nothing)"}\n` +
      "Check `settings`, free disk space and shared memory (/dev/shm, in a container `--shm-size`).",
    { cause },
  );
}
