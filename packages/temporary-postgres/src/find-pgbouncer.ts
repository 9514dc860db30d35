import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Where packages put it, and where PATH of a plain user often does not lead. */
const usualFolders = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/** The path of the `pgbouncer` program of this machine, if it has one. */
export function findPgBouncer(): string | undefined {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...path, ...usualFolders].map((folder) => join(folder, "pgbouncer")).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
