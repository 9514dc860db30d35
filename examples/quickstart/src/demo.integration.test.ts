import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
let temporaryFolder: string;
/** Inherited by whatever the demo starts, so that it can be found again. */
let mark: string;

beforeEach(async () => {
  temporaryFolder = await mkdtemp(join(tmpdir(), "quickstart-test-"));
  // The server runs as another user when the tests run as root.
  await chmod(temporaryFolder, 0o755);
  mark = `QUICKSTART_TEST=${temporaryFolder}`;
});

afterEach(async () => {
  for (const pid of await markedProcesses()) process.kill(pid, "SIGKILL");
  await rm(temporaryFolder, { recursive: true, force: true });
});

interface RunningDemo {
  readonly process: ChildProcess & { readonly pid: number };
  readonly ended: Promise<readonly [number | null, NodeJS.Signals | null]>;
  output(): string;
}

function startDemo(...flags: readonly string[]): RunningDemo {
  const child = spawn(
    process.execPath,
    ["--conditions=@outbox/source", "--import", "tsx", "src/main.ts", ...flags],
    {
      cwd: packageFolder,
      // A process group of its own, as a command in a terminal has.
      detached: true,
      // Plain text to look at: CI is taken for a terminal with colours.
      env: {
        ...process.env,
        NO_COLOR: "1",
        TMPDIR: temporaryFolder,
        QUICKSTART_TEST: temporaryFolder,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return {
    process: child as RunningDemo["process"],
    ended: once(child, "close").then(([code, signal]) => [code, signal] as const),
    output: () => output,
  };
}

async function eventually(what: string, condition: () => boolean | Promise<boolean>) {
  for (const until = Date.now() + 60_000; Date.now() < until; await delay(50)) {
    if (await condition()) return;
  }
  throw new Error(`Not within a minute: ${what}`);
}

async function markedProcesses(): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const marked = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environ.split("\0").includes(mark) ? [pid] : [];
    }),
  );
  return marked.flat();
}

/** tsx keeps a cache in the same place. */
const leftFolders = async () =>
  (await readdir(temporaryFolder)).filter((name) => name.startsWith("outbox-"));

// Processes are found through /proc.
describe.runIf(process.platform === "linux")("the demo", { timeout: 180_000 }, () => {
  it("passes, and leaves nothing behind", async () => {
    const demo = startDemo("--orders", "200");
    const [exitCode] = await demo.ended;
    expect(demo.output()).toContain("PASSED");
    expect(exitCode).toBe(0);
    expect(demo.output()).toMatch(/lost +0 /);
    expect(demo.output()).toMatch(/held +[1-9]/);
    expect(await leftFolders()).toEqual([]);
    expect(await markedProcesses()).toEqual([]);
  });

  it.each<[string, (pid: number) => void, readonly [number | null, string | null]]>([
    ["Ctrl-C", (pid) => process.kill(-pid, "SIGINT"), [130, null]],
    ["SIGINT to the main process alone", (pid) => process.kill(pid, "SIGINT"), [130, null]],
    ["SIGTERM", (pid) => process.kill(pid, "SIGTERM"), [143, null]],
    ["SIGKILL of the main process", (pid) => process.kill(pid, "SIGKILL"), [null, "SIGKILL"]],
  ])("leaves nothing behind after %s in the middle", async (_, interrupt, ending) => {
    const demo = startDemo();
    await eventually("orders are delivered", () => /[1-9]\d* delivered/.test(demo.output()));
    expect((await markedProcesses()).length).toBeGreaterThan(6);
    interrupt(demo.process.pid);
    expect(await demo.ended).toEqual(ending);
    await eventually("processes are gone", async () => (await markedProcesses()).length === 0);
    await eventually("folders are gone", async () => (await leftFolders()).length === 0);
  });

  it("leaves nothing behind after Ctrl-C while it starts", async () => {
    const demo = startDemo();
    await eventually("the server starts", async () => (await leftFolders()).length > 0);
    process.kill(-demo.process.pid, "SIGINT");
    expect(await demo.ended).toEqual([130, null]);
    expect(await leftFolders()).toEqual([]);
    expect(await markedProcesses()).toEqual([]);
  });

  it("says what is wrong with its flags", async () => {
    const demo = startDemo("--orders", "none");
    expect(await demo.ended).toEqual([1, null]);
    expect(demo.output()).toContain("--orders must be a whole number");
  });
});
