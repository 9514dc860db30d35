import { constants } from "node:os";

/** Why the demo was asked to end. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  /** As a shell reports it: 130 for Ctrl-C. */
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM" | "SIGHUP") {
    super(`Stopped by ${signal}.`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** Aborts on the first signal that asks the process to end. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => controller.abort(new Interrupted(signal)));
  }
  return controller.signal;
}
