import { type OutboxClaim, remainingLeaseMs } from "@outbox/core";
import { longestLeaseMs } from "./capabilities.js";
import type { ServerClock } from "./server-clock.js";

/**
 * So that the request arrives before SQS's own twelve hours are over: the Date header's second, and
 * one for the way there.
 */
const limitMarginMs = 2_000;

/** The lease is over by this process's clocks, or by SQS's: nothing may be sent for it any more. */
export function isLeaseOver(claim: OutboxClaim, clock: ServerClock): boolean {
  return (
    remainingLeaseMs(claim) <= 0 || (clock.isSet && clock.nowMs() >= claim.claimExpiresAt.getTime())
  );
}

/**
 * The visibility timeout that holds the message for so long from now, in whole seconds; less where
 * SQS's twelve hours, which count from the *receive* and not from the last renewal, end before.
 * 0 when they have ended.
 */
export function visibilitySeconds(claim: OutboxClaim, ms: number, clock: ServerClock): number {
  const heldForMs = clock.nowMs() - claim.claimedAt.getTime();
  const leftMs = longestLeaseMs - heldForMs - limitMarginMs;
  return Math.max(0, Math.min(Math.ceil(ms / 1_000), Math.floor(leftMs / 1_000)));
}
