/** Imported before anything else, moves this process's wall clock by OUTBOX_CLOCK_SKEW_MS. */
const skewMs = Number(process.env["OUTBOX_CLOCK_SKEW_MS"] ?? 0);

if (skewMs !== 0) {
  const trueNow = Date.now;
  Date.now = () => trueNow() + skewMs;
  // A proxy, so that `instanceof` and everything static stay what they were.
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget),
    apply: (target) => new target(target.now()).toString(),
  });
}
