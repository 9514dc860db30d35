import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { type CreateDatabaseOptions, createDatabase } from "./create-database.js";
import type { GuardedFolder } from "./guarded-folder.js";
import type { PostgresVersion } from "./postgres-version.js";
import { endServerProcess } from "./server-process.js";
import { ServerStartError } from "./server-start-error.js";
import type { RestartMode, TemporaryPostgres } from "./temporary-postgres.js";

export interface RunningPostgresParts {
  readonly version: PostgresVersion;
  readonly url: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly server: ChildProcess;
  readonly guarded: GuardedFolder;
  /** Starts the server again, on the same port and data. */
  readonly startAgain: () => Promise<ChildProcess>;
}

/** How long a restart waits for what its predecessor left: the port, or backends of a killed server. */
const patienceMs = 10_000;
const retryIntervalMs = 100;

export class RunningPostgres implements TemporaryPostgres {
  readonly version: PostgresVersion;
  readonly url: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly #guarded: GuardedFolder;
  readonly #startAgain: () => Promise<ChildProcess>;
  #server: ChildProcess;
  #restarting: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(parts: RunningPostgresParts) {
    this.version = parts.version;
    this.url = parts.url;
    this.port = parts.port;
    this.dataDirectory = parts.dataDirectory;
    this.#server = parts.server;
    this.#guarded = parts.guarded;
    this.#startAgain = parts.startAgain;
  }

  get pid(): number {
    return this.#server.pid ?? 0;
  }

  createDatabase(name?: string, options?: CreateDatabaseOptions): Promise<string> {
    return createDatabase(this.url, name, options);
  }

  restart(mode: RestartMode = "fast"): Promise<void> {
    const next = this.#restarting.then(() => this.#restart(mode));
    // One that fails is its own caller's problem, not that of the next.
    this.#restarting = next.catch(() => undefined);
    return next;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#guarded.release();
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #restart(mode: RestartMode): Promise<void> {
    await endServerProcess(this.#server, mode === "fast" ? "SIGINT" : "SIGQUIT");
    const deadline = Date.now() + patienceMs;
    for (;;) {
      if (this.#stopping) throw new Error("The temporary PostgreSQL was stopped; start a new one.");
      try {
        this.#server = await this.#startAgain();
        return;
      } catch (error) {
        const passes =
          error instanceof ServerStartError && (error.portTaken || error.predecessorAlive);
        if (!passes || Date.now() > deadline) throw error;
        await delay(retryIntervalMs);
      }
    }
  }
}
