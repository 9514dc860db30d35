/**
 * Where a driver's error came from. `connect`: before anything was sent, so nothing can have been
 * applied. `query`: after.
 *
 * `pg` reports a lost connection by message text alone, in several wordings. Where an error arose
 * is known without reading it.
 */
export type ErrorPhase = "connect" | "query";

// Beside the error, not around it: callers see the driver's own.
const phases = new WeakMap<object, ErrorPhase>();

export function errorPhase(error: unknown): ErrorPhase | undefined {
  return typeof error === "object" && error !== null ? phases.get(error) : undefined;
}

/** Runs `action` and remembers the phase of what it throws. */
export async function inPhase<Result>(
  phase: ErrorPhase,
  action: () => Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    const thrown = typeof error === "object" && error !== null ? error : new Error(String(error));
    phases.set(thrown, phase);
    throw thrown;
  }
}
