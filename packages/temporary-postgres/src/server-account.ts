import { execFileSync } from "node:child_process";

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
  for (const name of ["nobody", "postgres"]) {
    try {
      return { uid: idOf(name, "-u"), gid: idOf(name, "-g") };
    } catch {
      // The next one may be there.
    }
  }
  throw new Error(
    "PostgreSQL refuses to run as root, and there is no user `nobody` or `postgres` to run it as. " +
      "Create one, for instance with `useradd --system postgres`, or run this as another user.",
  );
}

function idOf(name: string, flag: "-u" | "-g"): number {
  const output = execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] });
  return Number.parseInt(output.toString(), 10);
}
