import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerAccount } from "./server-account.js";

/** A path at which nothing is yet, for a folder that `account` can get at. */
export function temporaryPath(prefix: string, account: ServerAccount): string {
  // The temporary folder of root may be a private one (TMPDIR under /root).
  const parent = [tmpdir(), "/tmp", "/var/tmp"].find(
    (folder) => isWritable(folder) && canEnter(folder, account),
  );
  if (parent) return join(parent, `${prefix}${randomBytes(6).toString("hex")}`);
  throw new Error(
    `The server needs a folder in ${tmpdir()}, but this user cannot write or the server's user ` +
      "cannot enter there. Set TMPDIR to another one.",
  );
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Asked of the operating system, since modes, access lists and mounts all have a say. */
function canEnter(folder: string, account: ServerAccount): boolean {
  if (account.uid === undefined) return true;
  return spawnSync("test", ["-x", folder], { ...account, cwd: "/" }).status === 0;
}
