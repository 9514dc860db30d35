import type { LeaseDeadline, OutboxClaim } from "../contract/outbox-claim.js";
import { systemTiming, type Timing } from "../timing/timing.js";

/** A deadline `leaseMs` after the given moment: the one at which the claim was *sent*. */
export function leaseDeadline(sentAt: LeaseDeadline, leaseMs: number): LeaseDeadline {
  return { monotonicMs: sentAt.monotonicMs + leaseMs, wallMs: sentAt.wallMs + leaseMs };
}

/** This process's clocks, as a point that deadlines are reckoned from. */
export function readClocks(timing: Timing): LeaseDeadline {
  return { monotonicMs: timing.monotonic(), wallMs: timing.wall() };
}

/**
 * How long this process may still trust the claim, in ms; negative once it may not. The more
 * pessimistic of both clocks decides: after a suspension the monotonic one is behind, after a step
 * of the wall clock the other.
 */
export function remainingLeaseMs(claim: OutboxClaim, timing: Timing = systemTiming): number {
  return Math.min(
    claim.deadline.monotonicMs - timing.monotonic(),
    claim.deadline.wallMs - timing.wall(),
  );
}
