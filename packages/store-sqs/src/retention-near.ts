import { longestRetentionMs } from "./capabilities.js";
import type { ReceivedMessage } from "./received-message.js";
import type { StoreContext } from "./store-context.js";

/** Longest margin before a message's end, in ms: two of the longest leases. */
const longestMarginMs = 24 * 60 * 60 * 1_000;

/** The margin is a fourteenth of the retention: a day of the longest one. */
export function isNearRetention(
  { clock, checks }: StoreContext,
  { sentAtMs }: Pick<ReceivedMessage, "sentAtMs">,
): boolean {
  const retentionMs = checks.knownRetentionMs ?? longestRetentionMs;
  const marginMs = Math.min(longestMarginMs, retentionMs / 14);
  return clock.nowMs() - sentAtMs > retentionMs - marginMs;
}
