import { spawnSync } from "node:child_process";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerAccount } from "./server-account.js";

/** Creates a folder that `account` owns, that it can reach, and that no other user can enter. */
export async function createTemporaryFolder(
  prefix: string,
  account: ServerAccount,
): Promise<string> {
  // The temporary folder of root may be a private one (TMPDIR under /root).
  for (const parent of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
    const folder = await mkdtemp(join(parent, prefix)).catch(() => undefined);
    if (folder === undefined) continue;
    if (account.uid === undefined || account.gid === undefined) return folder;
    await chown(folder, account.uid, account.gid);
    if (canEnter(folder, account)) return folder;
    await rm(folder, { recursive: true });
  }
  throw new Error(
    `No temporary folder can be created in ${tmpdir()} that the server's user can enter. ` +
      "Set TMPDIR to a folder that every user can enter.",
  );
}

/** Asked of the operating system, since modes, access lists and mounts all have a say. */
function canEnter(folder: string, account: ServerAccount): boolean {
  return spawnSync("/bin/sh", ["-c", ":"], { ...account, cwd: folder }).status === 0;
}
