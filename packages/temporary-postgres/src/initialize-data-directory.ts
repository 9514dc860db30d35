import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ServerAccount } from "./server-account.js";
import { ServerStartError } from "./server-start-error.js";
import { spawnDetached } from "./spawn-detached.js";
import { writeServerFile } from "./write-server-file.js";

export interface InitializeDataDirectoryOptions {
  /** Path of the program. */
  readonly initdb: string;
  /** The folder in which the data directory is created. */
  readonly folder: string;
  readonly account: ServerAccount;
  readonly password: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Called in the tick in which the process starts. */
  readonly onStart: (initdb: ChildProcess) => void;
}

/** Runs `initdb` and writes the settings; resolves with the path of the data directory. */
export async function initializeDataDirectory(
  options: InitializeDataDirectoryOptions,
): Promise<string> {
  const { folder, account } = options;
  const dataDirectory = join(folder, "data");
  const passwordFile = join(folder, "password");
  await writeServerFile(passwordFile, options.password, account);
  const logFile = join(folder, "initdb.log");
  const initdb = spawnDetached({
    program: options.initdb,
    arguments: [
      `--pgdata=${dataDirectory}`,
      "--username=postgres",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      // Files in the data directory: they are removed with it even after SIGKILL, and a container
      // has little of the other kind.
      "--set=dynamic_shared_memory_type=mmap",
      // What the server writes later is still synced; an empty cluster is not worth the time.
      "--no-sync",
      "--no-instructions",
    ],
    workingDirectory: folder,
    logFile,
    account,
  });
  const exit = once(initdb, "exit");
  initdb.ref();
  options.onStart(initdb);
  const [exitCode, signal] = await exit;
  if (exitCode !== 0) {
    throw new ServerStartError(
      `initdb ended with ${signal ?? exitCode}`,
      await readFile(logFile, "utf8"),
      "Check free disk space, or set TMPDIR to another folder.",
    );
  }
  await rm(passwordFile);
  await appendFile(join(dataDirectory, "postgresql.conf"), configurationLines(options.settings));
  return dataDirectory;
}

/** Lines of postgresql.conf, where of several equal names PostgreSQL takes the last. */
function configurationLines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value.replaceAll(/['\\]/g, "$&$&")}'\n`)
    .join("");
}
