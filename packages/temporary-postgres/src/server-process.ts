import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ServerStartError } from "./server-start-error.js";
import { type DetachedProgram, spawnDetached } from "./spawn-detached.js";

export interface ServerProcessOptions extends DetachedProgram {
  /** As it is called in error messages. */
  readonly name: string;
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
 * Starts a server and resolves when it is ready.
 *
 * @throws {@link ServerStartError}
 */
export async function startServerProcess(options: ServerProcessOptions): Promise<ChildProcess> {
  const previousOutput = readOutput(options.logFile, 0).length;
  const server = spawnDetached(options);
  let failure: Error | undefined;
  server.once("error", (error) => {
    failure = error;
  });
  options.onStart(server);

  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const ended = !isAlive(server);
    const output = readOutput(options.logFile, previousOutput);
    if (!ended && options.isReady(server, output.toString())) return server;
    if (!ended && Date.now() < deadline) {
      await delay(pollIntervalMs);
      continue;
    }
    await endServerProcess(server, "SIGQUIT");
    const what = ended ? "ended while it started" : `was not ready after ${startTimeoutMs} ms`;
    throw new ServerStartError(
      `${options.name} ${what}`,
      output.toString(),
      options.remedy,
      failure,
    );
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

function isAlive(server: ChildProcess): boolean {
  return server.pid !== undefined && server.exitCode === null && server.signalCode === null;
}

function readOutput(logFile: string, from: number): Buffer {
  try {
    return readFileSync(logFile).subarray(from);
  } catch {
    return Buffer.alloc(0);
  }
}
