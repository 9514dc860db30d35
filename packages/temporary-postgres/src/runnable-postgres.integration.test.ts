import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { installedPostgres } from "./installed-postgres.js";
import { runnablePostgres } from "./runnable-postgres.js";
import { serverAccount } from "./server-account.js";

const account = serverAccount();
const isRoot = account.uid !== undefined;

describe.skipIf(process.platform === "win32")("the PostgreSQL that npm installed", () => {
  let home: string;
  let installed: string;
  let folder: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "installed postgres "));
    await chmod(home, 0o755);
    installed = join(home, "native");
    await cp(installedPostgres(18), installed, { recursive: true, verbatimSymlinks: true });
  });

  afterAll(() => rm(home, { recursive: true }));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "runnable postgres "));
    await chmod(folder, 0o755);
    onTestFinished(() => rm(folder, { recursive: true }));
  });

  const initdb = async () => (await runnablePostgres(installed, folder, account)).initdb;
  const copiedInitdb = () => join(folder, "native", "bin", "initdb");

  it("is used where it is, if that works", async () => {
    expect(await initdb()).toBe(join(installed, "bin", "initdb"));
    expect(await readdir(folder)).toEqual([]);
  });

  it.runIf(isRoot)("is copied if it is in a home folder that only root can enter", async () => {
    await chmod(home, 0o700);
    onTestFinished(() => chmod(home, 0o755));
    expect(await initdb()).toBe(copiedInitdb());
  });

  it("is copied if it lost its execute bits", async () => {
    const program = join(installed, "bin", "postgres");
    await chmod(program, 0o644);
    onTestFinished(() => chmod(program, 0o755));
    expect(await initdb()).toBe(copiedInitdb());
  });

  it("is copied if its symbolic links were not created", async () => {
    const complete = join(home, "complete");
    await cp(installed, complete, { recursive: true, verbatimSymlinks: true });
    onTestFinished(async () => {
      await rm(installed, { recursive: true });
      await rename(complete, installed);
    });
    for (const entry of await readdir(join(installed, "lib"), { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(join(installed, "lib", entry.name));
    }
    expect(await initdb()).toBe(copiedInitdb());
  });

  it("is reported as unusable if a copy does not run either", async () => {
    const incomplete = join(folder, "installed");
    await mkdir(join(incomplete, "bin"), { recursive: true });
    for (const name of ["initdb", "postgres"]) {
      await cp(join(installed, "bin", name), join(incomplete, "bin", name));
    }
    await expect(runnablePostgres(incomplete, folder, account)).rejects.toThrow(
      /shared librar|Library not loaded/,
    );
  });
});
