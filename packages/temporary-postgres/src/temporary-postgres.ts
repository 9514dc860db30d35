import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type CreateDatabaseOptions, createDatabase } from "./create-database.js";
import { freePort } from "./free-port.js";
import { type FolderGuard, guardFolder } from "./guard-folder.js";
import { initializeDataDirectory } from "./initialize-data-directory.js";
import { type PostgresVersion, postgresBinaries } from "./postgres-binaries.js";
import {
  endPostgresProcess,
  PortTakenError,
  type PostgresProcessOptions,
  startPostgresProcess,
} from "./postgres-process.js";
import { serverAccount } from "./server-account.js";
import { createTemporaryFolder } from "./temporary-folder.js";

export interface TemporaryPostgresOptions {
  /**
   * Major version of PostgreSQL.
   * @defaultValue `18`
   */
  readonly version?: PostgresVersion;
  /** Further settings of postgresql.conf, such as `{ max_connections: "500" }`; they win over all others. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Whether commits reach the disk, as in production. With `false` tests run faster and a crash of
   * the operating system, not of the server, may lose the data.
   * @defaultValue `true`
   */
  readonly durable?: boolean;
}

/** How {@link TemporaryPostgres.restart} ends the server: in good order, or as in a crash. */
export type RestartMode = "fast" | "immediate";

/** A PostgreSQL server in a temporary folder, that goes away with the process that started it. */
export interface TemporaryPostgres extends AsyncDisposable {
  /** Major version. */
  readonly version: PostgresVersion;
  /** Of the database `postgres`, with the superuser's name and password. */
  readonly url: string;
  /** TCP port on 127.0.0.1, the only address that the server listens on. */
  readonly port: number;
  readonly dataDirectory: string;
  /** Process id of the server's main process, which changes with each restart. */
  readonly pid: number;
  /**
   * Creates an empty database.
   *
   * @param name - defaults to a random one
   * @returns its URL
   */
  createDatabase(name?: string, options?: CreateDatabaseOptions): Promise<string>;
  /**
   * Restarts the server on the same port and data; also starts one that was killed from outside.
   *
   * @param mode - `"fast"` (the default) ends the sessions and writes everything out;
   * `"immediate"` drops everything in memory, and the start goes through crash recovery
   */
  restart(mode?: RestartMode): Promise<void>;
  /** Ends the server and removes its folder; a second call waits for the first. */
  stop(): Promise<void>;
}

const portAttempts = 5;

/**
 * Starts a PostgreSQL server of its own: free port, random password, empty data.
 *
 * It ends with {@link TemporaryPostgres.stop}, and otherwise with this process, whatever ends that.
 * It does not keep this process alive, installs no signal handlers, and Ctrl-C does not reach it: a
 * program that handles signals calls `stop()` at the end of its own shutdown.
 *
 * @throws if it does not start; the message ends with the server's log and says what to check
 */
export async function startTemporaryPostgres(
  options: TemporaryPostgresOptions = {},
): Promise<TemporaryPostgres> {
  const { version = 18 } = options;
  const account = serverAccount();
  const folder = await createTemporaryFolder("outbox-postgres-", account);
  // The data is thrown away, so the quickest way to end the server is the right one.
  const guard = guardFolder({ folder, stopSignal: "SIGQUIT" });
  try {
    const binaries = await postgresBinaries(version, folder, account);
    const password = randomBytes(16).toString("hex");
    const dataDirectory = await initializeDataDirectory({
      initdb: binaries.initdb,
      folder,
      account,
      password,
      settings: serverSettings(options),
    });
    const logFile = join(folder, "server.log");
    const program = binaries.postgres;
    const onStart = guard.watch;
    const server = await startOnFreePort({ program, dataDirectory, logFile, account, onStart });
    return new RunningPostgres(version, password, server, guard);
  } catch (error) {
    await guard.release();
    throw error;
  }
}

function serverSettings({
  settings = {},
  durable = true,
}: TemporaryPostgresOptions): Record<string, string> {
  return {
    listen_addresses: "127.0.0.1",
    // A socket's path may be no longer than some hundred bytes, and nothing here connects by one.
    unix_socket_directories: "",
    max_connections: "200",
    ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
    ...settings,
  };
}

interface StartedServer {
  readonly options: PostgresProcessOptions;
  readonly process: ChildProcess;
}

async function startOnFreePort(
  options: Omit<PostgresProcessOptions, "port">,
): Promise<StartedServer> {
  for (let attempt = 1; ; attempt++) {
    const withPort = { ...options, port: await freePort() };
    try {
      return { options: withPort, process: await startPostgresProcess(withPort) };
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === portAttempts) throw error;
    }
  }
}

class RunningPostgres implements TemporaryPostgres {
  readonly url: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly #options: PostgresProcessOptions;
  readonly #guard: FolderGuard;
  #process: ChildProcess;
  #stopped: Promise<void> | undefined;

  constructor(
    readonly version: PostgresVersion,
    password: string,
    server: StartedServer,
    guard: FolderGuard,
  ) {
    this.#options = server.options;
    this.#process = server.process;
    this.#guard = guard;
    this.port = server.options.port;
    this.dataDirectory = server.options.dataDirectory;
    this.url = `postgresql://postgres:${password}@127.0.0.1:${this.port}/postgres`;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  createDatabase(name?: string, options?: CreateDatabaseOptions): Promise<string> {
    return createDatabase(this.url, name, options);
  }

  async restart(mode: RestartMode = "fast"): Promise<void> {
    await endPostgresProcess(this.#process, mode === "fast" ? "SIGINT" : "SIGQUIT");
    if (this.#stopped) throw new Error("The temporary PostgreSQL was stopped; start a new one.");
    this.#process = await startPostgresProcess(this.#options);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#guard.release();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
