/** The work was not done in time. Internal: an emitter turns it into a result. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

/**
 * Runs work that ends with the signal or after `timeoutMs`, whichever is first, even if the work
 * itself notices neither.
 *
 * Own wiring instead of `AbortSignal.any([signal, AbortSignal.timeout(…)])`: that one keeps
 * references at a long-lived signal and timers alive after the work is done.
 *
 * @throws the signal's reason, or a DeadlineError
 */
export async function withDeadline<Result>(
  signal: AbortSignal,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const controller = new AbortController();
  let end: (reason: unknown) => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    end = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const onAbort = () => end(signal.reason);
  const timer = setTimeout(() => end(new DeadlineError()), timeoutMs);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([ended, work(controller.signal)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
