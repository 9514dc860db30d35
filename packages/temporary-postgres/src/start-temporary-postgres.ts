import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createGuardedFolder } from "./guarded-folder.js";
import { initializeDataDirectory } from "./initialize-data-directory.js";
import { installedPostgres } from "./installed-postgres.js";
import { runnablePostgres } from "./runnable-postgres.js";
import { RunningPostgres } from "./running-postgres.js";
import { serverAccount } from "./server-account.js";
import { startServerProcess } from "./server-process.js";
import { startOnFreePort } from "./start-on-free-port.js";
import type { TemporaryPostgres } from "./temporary-postgres.js";
import {
  resolveTemporaryPostgresOptions,
  type TemporaryPostgresOptions,
} from "./temporary-postgres-options.js";

/**
 * Starts a PostgreSQL server of its own: free port, random password, empty data.
 *
 * It ends with {@link TemporaryPostgres.stop}, and otherwise with this process, whatever ends that.
 * It does not keep this process alive, installs no signal handlers, and Ctrl-C does not reach it: a
 * program that handles signals calls `stop()` at the end of its own shutdown.
 *
 * @throws RangeError if an option is wrong
 * @throws if the server does not start; the message has the end of its log and says what to check
 */
export async function startTemporaryPostgres(
  options: TemporaryPostgresOptions = {},
): Promise<TemporaryPostgres> {
  const { version, settings } = resolveTemporaryPostgresOptions(options);
  const account = serverAccount();
  const guarded = await createGuardedFolder({ prefix: "outbox-postgres-", account });
  const folder = guarded.path;
  try {
    const { initdb, postgres } = await runnablePostgres(
      installedPostgres(version),
      folder,
      account,
    );
    const password = randomBytes(16).toString("hex");
    const dataDirectory = await initializeDataDirectory({
      initdb,
      folder,
      account,
      password,
      settings,
      // Of no use unfinished, and a milder signal would only reach its children later.
      onStart: (initdb) => guarded.watch(initdb, "SIGKILL"),
    });
    const start = (port: number) =>
      startServerProcess({
        name: `PostgreSQL ${version}`,
        program: postgres,
        arguments: ["-D", dataDirectory, "-p", String(port)],
        workingDirectory: dataDirectory,
        logFile: join(folder, "server.log"),
        account,
        remedy: "Check the `settings`, and that disk space and memory are free.",
        // The data is thrown away, so the quickest way to end it is the right one.
        onStart: (server) => guarded.watch(server, "SIGQUIT"),
        isReady: (server) => isReady(dataDirectory, server),
      });
    return await startOnFreePort(async (port) => {
      const server = await start(port);
      const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
      const startAgain = () => start(port);
      return new RunningPostgres({
        version,
        url,
        port,
        dataDirectory,
        server,
        guarded,
        startAgain,
      });
    });
  } catch (error) {
    await guarded.release();
    throw error;
  }
}

/** The file and lines that `pg_ctl start --wait` looks at. */
function isReady(dataDirectory: string, server: ChildProcess): boolean {
  try {
    const lines = readFileSync(join(dataDirectory, "postmaster.pid"), "utf8").split("\n");
    return lines[0] === String(server.pid) && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}
