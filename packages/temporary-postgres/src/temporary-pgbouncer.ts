import { join } from "node:path";
import { findPgBouncer } from "./find-pgbouncer.js";
import { createGuardedFolder } from "./guarded-folder.js";
import { pgBouncerFiles } from "./pgbouncer-files.js";
import { serverAccount } from "./server-account.js";
import { startServerProcess } from "./server-process.js";
import { startOnFreePort } from "./start-on-free-port.js";
import { writeServerFile } from "./write-server-file.js";

export interface TemporaryPgBouncerOptions {
  /** URL of a database, with the user and password that clients of the pooler log in with too. */
  readonly url: string;
  /**
   * After what a server connection goes to the next client.
   * @defaultValue `"transaction"`
   */
  readonly poolMode?: "session" | "transaction" | "statement";
  /** Further settings of the `[pgbouncer]` section; they win over all others. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A PgBouncer before an existing server, that goes away with the process that started it. */
export interface TemporaryPgBouncer extends AsyncDisposable {
  /** The given URL, by way of the pooler; other databases of that server are reached likewise. */
  readonly url: string;
  readonly port: number;
  /** Ends the pooler and removes its folder; a second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Starts the PgBouncer of this machine in front of a server. It lives exactly as long as a server
 * of `startTemporaryPostgres` would.
 *
 * @throws if this machine has none; ask `findPgBouncer` first where that is not an error
 */
export async function startPgBouncer(
  options: TemporaryPgBouncerOptions,
): Promise<TemporaryPgBouncer> {
  const { url, poolMode = "transaction", settings = {} } = options;
  const program = findPgBouncer();
  if (program === undefined) {
    throw new Error(
      "There is no pgbouncer on this machine; `apt-get install pgbouncer` brings it.",
    );
  }
  const account = serverAccount();
  const guarded = await createGuardedFolder({ prefix: "outbox-pgbouncer-", account });
  const folder = guarded.path;
  try {
    return await startOnFreePort(async (port) => {
      for (const [name, text] of pgBouncerFiles({ url, folder, port, poolMode, settings })) {
        await writeServerFile(join(folder, name), text, account);
      }
      await startServerProcess({
        name: "PgBouncer",
        program,
        arguments: [join(folder, "pgbouncer.ini")],
        workingDirectory: folder,
        logFile: join(folder, "server.log"),
        account,
        remedy: "Check the `settings`; some are known to newer versions of PgBouncer only.",
        // It has nothing to lose, and since 1.23 waits for its clients after anything milder.
        onStart: (server) => guarded.watch(server, "SIGKILL"),
        isReady: (_, output) => output.includes("process up"),
      });
      const pooled = new URL(url);
      pooled.host = `127.0.0.1:${port}`;
      let stopping: Promise<void> | undefined;
      const stop = () => (stopping ??= guarded.release());
      return { url: pooled.href, port, stop, [Symbol.asyncDispose]: stop };
    });
  } catch (error) {
    await guarded.release();
    throw error;
  }
}
