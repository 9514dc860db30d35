import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { processesMentioning } from "./processes-mentioning.js";
import { queryServer } from "./query-server.js";

/**
 * A program that runs in a process group of its own, as a shell would have it. Everything of its
 * server lies in its temporary folder, and all of the server's processes name a path in there; so
 * nothing was left behind when that folder is empty and unmentioned.
 */
class Program {
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown[]>;

  constructor(
    readonly temporary: string,
    ending: string,
  ) {
    const fixture = fileURLToPath(new URL("./lifetime.fixture.ts", import.meta.url));
    this.#process = spawn(process.execPath, ["--import", "tsx", fixture, ending], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      detached: true,
      env: { ...process.env, TMPDIR: temporary },
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#exit = once(this.#process, "exit");
  }

  async serverUrl(): Promise<string> {
    const lines = this.#process.stdout?.iterator({ destroyOnReturn: false }) ?? [];
    for await (const line of lines) return String(line).trim();
    throw new Error("The program ended before its server ran.");
  }

  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-(this.#process.pid ?? 0), signal);
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.exit();
  }

  /** Exit code and signal. */
  exit(): Promise<unknown[]> {
    this.#process.stdout?.resume();
    return this.#exit;
  }

  async foldersLeft(): Promise<string[]> {
    // The program is TypeScript, whose loader has a cache in there as well.
    return (await readdir(this.temporary)).filter((name) => !name.startsWith("tsx-"));
  }

  async left(): Promise<unknown[]> {
    return [...(await this.foldersLeft()), ...processesMentioning(this.temporary)];
  }

  nothingLeftSoon(): Promise<void> {
    return vi.waitFor(async () => expect(await this.left()).toEqual([]), {
      timeout: 30_000,
      interval: 20,
    });
  }
}

const it = test.extend<{ start: (ending: string) => Program }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from the pattern
  start: async ({}, use) => {
    const temporary = await mkdtemp(join(tmpdir(), "lifetime test "));
    await chmod(temporary, 0o755);
    const programs: Program[] = [];
    await use((ending) => {
      const program = new Program(temporary, ending);
      programs.push(program);
      return program;
    });
    for (const program of programs) await program.kill();
    await rm(temporary, { recursive: true });
  },
});

describe.concurrent("a server that nobody stopped is gone", () => {
  it.for([
    ["return", 0],
    ["process.exit", 3],
    ["exception", 1],
  ] as const)("the moment its program has ended by %s", async ([ending, exitCode], { start }) => {
    const program = start(ending);
    expect(await program.exit()).toEqual([exitCode, null]);
    expect(await program.foldersLeft()).toEqual([]);
    await program.nothingLeftSoon();
  });

  it.for(["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)(
    "soon after its program was ended by %s, which the exit status tells",
    async (signal, { start }) => {
      const program = start("signal");
      const url = await program.serverUrl();
      await queryServer(url, "select 1");

      program.signalGroup(signal);
      expect(await program.exit()).toEqual([null, signal]);
      await program.nothingLeftSoon();
      await expect(queryServer(url, "select 1")).rejects.toThrow("ECONNREFUSED");
    },
  );

  it.for([0, 300, 600])(
    "soon after its program was killed %i ms into the start",
    async (afterMs, { start }) => {
      const program = start("signal");
      await vi.waitFor(async () => expect(await program.foldersLeft()).toHaveLength(1), {
        timeout: 20_000,
        interval: 1,
      });
      await delay(afterMs);
      program.signalGroup("SIGKILL");
      await program.exit();
      await program.nothingLeftSoon();
    },
  );
});

describe("a program that handles Ctrl-C itself", () => {
  it("has its server until it stops it", async ({ start }) => {
    const program = start("own shutdown");
    await program.serverUrl();
    program.signalGroup("SIGINT");
    expect(await program.exit()).toEqual([7, null]);
    expect(await program.left()).toEqual([]);
  });
});

describe("a watchdog that was killed", () => {
  it.for([
    ["the server is stopped", "own shutdown", 7],
    ["its program exits", "exit on SIGINT", 8],
  ] as const)("is replaced when %s", async ([_, ending, exitCode], { start }) => {
    const program = start(ending);
    await program.serverUrl();
    const watchdogs = processesMentioning(`outbox-watchdog ${program.temporary}`);
    expect(watchdogs).toHaveLength(1);
    for (const pid of watchdogs) process.kill(pid, "SIGKILL");

    program.signalGroup("SIGINT");
    expect(await program.exit()).toEqual([exitCode, null]);
    expect(await program.left()).toEqual([]);
  });
});
