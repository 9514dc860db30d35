import { spawnSync } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, readlink, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ServerAccount } from "./server-account.js";

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds programs that `account` can run: those in `installed`, or else a copy in `folder`.
 *
 * @param installed - see `installedPostgres`; never changed, since a package manager may share its
 * files among projects
 */
export async function runnablePostgres(
  installed: string,
  folder: string,
  account: ServerAccount,
): Promise<PostgresPrograms> {
  const failure = whyNotRunnable(programsIn(installed), account);
  if (failure === undefined) return programsIn(installed);

  const copy = join(folder, "native");
  await copyPostgres(installed, copy);
  const failureOfCopy = whyNotRunnable(programsIn(copy), account);
  if (failureOfCopy === undefined) return programsIn(copy);
  throw new Error(
    `The PostgreSQL from npm does not run here.\n${failure}\nAs a copy:\n${failureOfCopy}\n` +
      "It needs glibc (Alpine Linux has none), and a temporary folder that is not mounted noexec " +
      "(TMPDIR names another one).",
  );
}

function programsIn(folder: string): PostgresPrograms {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return {
    initdb: join(folder, "bin", `initdb${suffix}`),
    postgres: join(folder, "bin", `postgres${suffix}`),
  };
}

/**
 * Running them covers all that is known to go wrong: a home folder that the account cannot enter,
 * missing execute bits, libraries whose symbolic links were not created.
 */
function whyNotRunnable(programs: PostgresPrograms, account: ServerAccount): string | undefined {
  for (const program of [programs.postgres, programs.initdb]) {
    const { error, status, signal, stderr } = spawnSync(program, ["--version"], {
      ...account,
      cwd: "/",
      encoding: "utf8",
      windowsHide: true,
    });
    if (error) return error.message;
    if (status !== 0) return `${program} ended with ${signal ?? status}: ${stderr.trim()}`;
  }
  return undefined;
}

async function copyPostgres(source: string, target: string): Promise<void> {
  await copyFolder(source, target);
  for (const link of await symbolicLinks(source)) {
    const path = join(target, "..", link.target);
    // One that was there has been copied.
    await symlink(basename(link.source), path).catch(() => undefined);
  }
}

/** `fs.cp` would take twice the time, and neither set the modes nor keep links relative. */
async function copyFolder(source: string, target: string): Promise<void> {
  await mkdir(target);
  await chmod(target, 0o755);
  const entries = await readdir(source, { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const from = join(source, entry.name);
      const to = join(target, entry.name);
      if (entry.isDirectory()) return copyFolder(from, to);
      if (entry.isSymbolicLink()) return symlink(await readlink(from), to);
      // Static libraries are for building programs.
      if (entry.name.endsWith(".a")) return undefined;
      await copyFile(from, to);
      return chmod(to, 0o755);
    }),
  );
}

/** Both paths start with the name of the folder, `native`. */
interface SymbolicLink {
  readonly source: string;
  readonly target: string;
}

/** A package on npm cannot hold symbolic links; this one lists them for its install script. */
async function symbolicLinks(installed: string): Promise<readonly SymbolicLink[]> {
  const list = await readFile(join(installed, "pg-symlinks.json"), "utf8").catch(() => "[]");
  return JSON.parse(list) as SymbolicLink[];
}
