import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Message } from "./messages.js";

export interface DemoProcess {
  readonly name: string;
  /** Asks it to end, and resolves when it has. */
  stop(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when it has ended by itself or was told to; rejects if it failed. */
  readonly ended: Promise<void>;
}

export interface StartOptions {
  readonly name: string;
  readonly program: URL;
  readonly environment: Readonly<Record<string, string>>;
  readonly onMessage?: (message: Message) => void;
}

/** The operating system processes of the demo; none of them outlives it. */
export class DemoProcesses {
  readonly #running = new Set<DemoProcess>();
  readonly #onOutput: (line: string) => void;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects when any process fails. */
  readonly failure: Promise<never>;

  constructor(onOutput: (line: string) => void) {
    this.#onOutput = onOutput;
    this.failure = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // Whoever waits for something else meanwhile is told as soon as it waits for this.
    this.failure.catch(() => undefined);
  }

  start({ name, program, environment, onMessage }: StartOptions): DemoProcess {
    const child = fork(fileURLToPath(program), {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    if (onMessage) child.on("message", (message) => onMessage(message as Message));
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) {
        createInterface(stream).on("line", (line) => this.#onOutput(`${name}: ${line}`));
      }
    }
    let sent: NodeJS.Signals | null = null;
    const ended = this.#watch(child, name, () => sent);
    const end = async (signal: NodeJS.Signals) => {
      sent = signal;
      child.kill(signal);
      await ended;
    };
    const demoProcess: DemoProcess = {
      name,
      ended,
      stop: () => end("SIGTERM"),
      kill: () => end("SIGKILL"),
    };
    this.#running.add(demoProcess);
    const forget = () => this.#running.delete(demoProcess);
    ended.then(forget, forget);
    return demoProcess;
  }

  /** Kills whatever still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#running].map((one) => one.kill()));
  }

  async #watch(
    child: ChildProcess,
    name: string,
    signalSent: () => NodeJS.Signals | null,
  ): Promise<void> {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    if (code === 0 || (signal !== null && signal === signalSent())) return;
    const error = new Error(`${name} ended unexpectedly with ${signal ?? `exit code ${code}`}.`);
    this.#fail(error);
    throw error;
  }
}
