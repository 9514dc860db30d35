import type { CreateDatabaseOptions } from "./create-database.js";
import type { PostgresVersion } from "./postgres-version.js";

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
  /** Of the server's main process; changes with each restart. */
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
