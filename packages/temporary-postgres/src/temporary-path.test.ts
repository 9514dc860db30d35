import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { serverAccount } from "./server-account.js";
import { temporaryPath } from "./temporary-path.js";

const account = serverAccount();
const isRoot = account.uid !== undefined;

async function setTemporaryFolder(mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "temporary path "));
  await chmod(folder, mode);
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  return folder;
}

it("a temporary path is a new one in TMPDIR", async () => {
  const folder = await setTemporaryFolder(0o755);
  const path = temporaryPath("some-", account);
  expect(path.startsWith(join(folder, "some-"))).toBe(true);
  expect(existsSync(path)).toBe(false);
  expect(temporaryPath("some-", account)).not.toBe(path);
});

it.skipIf(process.platform === "win32")(
  "a temporary path is elsewhere if the server's user cannot get at TMPDIR",
  async () => {
    const folder = await setTemporaryFolder(isRoot ? 0o700 : 0o500);
    expect(dirname(temporaryPath("some-", account))).not.toBe(folder);
  },
);

it("a temporary path does not need TMPDIR to exist", () => {
  vi.stubEnv("TMPDIR", "/nowhere");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(existsSync(dirname(temporaryPath("some-", account)))).toBe(true);
});
