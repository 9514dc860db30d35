import { execFile } from "node:child_process";
import { appendFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ServerAccount } from "./server-account.js";
import { serverEnvironment } from "./server-environment.js";
import { writeServerFile } from "./write-server-file.js";

export interface InitializeDataDirectoryOptions {
  readonly initdb: string;
  /** The folder in which the data directory is created. */
  readonly folder: string;
  readonly account: ServerAccount;
  readonly password: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Runs `initdb` and writes the settings; resolves with the path of the data directory. */
export async function initializeDataDirectory(
  options: InitializeDataDirectoryOptions,
): Promise<string> {
  const { folder, account } = options;
  const dataDirectory = join(folder, "data");
  const passwordFile = join(folder, "password");
  await writeServerFile(passwordFile, options.password, account);
  const flags = [
    `--pgdata=${dataDirectory}`,
    "--username=postgres",
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    // What the server writes later is still synced; the empty cluster is not worth a second.
    "--no-sync",
    "--no-instructions",
  ];
  try {
    await promisify(execFile)(options.initdb, flags, {
      ...account,
      cwd: folder,
      env: serverEnvironment(),
      windowsHide: true,
    });
  } catch (error) {
    const output = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
    throw new Error(
      `initdb failed to create a PostgreSQL data directory in ${folder}. It said:\n` +
        `${output.trim() || String(error)}\nCheck free disk space, or set TMPDIR to another folder.`,
      { cause: error },
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
