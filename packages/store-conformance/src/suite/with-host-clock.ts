/**
 * Runs `work` in a process whose wall clock is off by `skewMs`: a store that asks the host for the
 * time instead of its database shows. Monotonic time is left alone.
 */
export async function withHostClock<Result>(
  skewMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const real = globalThis.Date;
  const now = () => real.now() + skewMs;
  // A proxy, so that `instanceof Date` holds for dates made before, during and after.
  globalThis.Date = new Proxy(real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new real(now()).toString(),
    get: (target, property, receiver) =>
      property === "now" ? now : Reflect.get(target, property, receiver),
  });
  try {
    return await work();
  } finally {
    globalThis.Date = real;
  }
}
