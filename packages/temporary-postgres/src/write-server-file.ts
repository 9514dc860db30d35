import { chown, writeFile } from "node:fs/promises";
import type { ServerAccount } from "./server-account.js";

/** Writes a file that only the server's user, and root, can read. */
export async function writeServerFile(
  path: string,
  text: string,
  account: ServerAccount,
): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  if (account.uid !== undefined && account.gid !== undefined) {
    await chown(path, account.uid, account.gid);
  }
}
