import { OutboxError } from "../errors/outbox-error.js";

/** Everything a claim brought had to be given back unemitted. `outbox.lease_too_short` */
export function leaseTooShortError(options: {
  readonly leaseDurationMs: number;
  readonly leaseMarginMs: number;
}): OutboxError {
  const { leaseDurationMs, leaseMarginMs } = options;
  return new OutboxError(
    "outbox.lease_too_short",
    `a claim's reply came when less than leaseMarginMs (${leaseMarginMs} ms) of its leases was left, so everything was given back unemitted; raise leaseDurationMs (${leaseDurationMs} ms), or look for a slow store or a blocked event loop`,
    { isTransient: true },
  );
}
