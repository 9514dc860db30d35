import { spawnSync } from "node:child_process";

/** The user that a server runs as; empty for the user of this process. */
export interface ServerAccount {
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * PostgreSQL and PgBouncer refuse to run as root. For root this is `nobody`: it is there on every
 * Unix, so that no user has to be created (and left behind), and it owns no real database.
 */
export function serverAccount(): ServerAccount {
  if (process.getuid?.() !== 0) return {};
  const account = ["nobody", "_postgres", "postgres"].map(accountOf).find(canRunPrograms);
  if (account) return account;
  throw new Error(
    "PostgreSQL refuses to run as root, and programs cannot be run as `nobody` or `postgres` here. " +
      "Run this as another user, or give the container the capabilities SETUID, SETGID and CHOWN.",
  );
}

function accountOf(name: string): ServerAccount {
  return { uid: idOf(name, "-u"), gid: idOf(name, "-g") };
}

/** Not a number where there is no such user. */
function idOf(name: string, flag: "-u" | "-g"): number {
  return Number.parseInt(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout, 10);
}

function canRunPrograms(account: ServerAccount): boolean {
  const { uid, gid } = account;
  // `nobody` of macOS has a number that Node does not take.
  if (!isInt32(uid) || !isInt32(gid)) return false;
  return spawnSync("true", { ...account, cwd: "/" }).status === 0;
}

function isInt32(id: number | undefined): boolean {
  return id !== undefined && (id | 0) === id;
}
