import { createHash } from "node:crypto";

/** What a group or deduplication id may consist of: letters, digits, ASCII punctuation; 128 at most. */
const carriable = /^[!-~]{1,128}$/;

const hashed = "sha256-";

/** The text itself where SQS can carry it, else a hash that no text itself can be. */
function fifoId(text: string): string {
  if (carriable.test(text) && !text.startsWith(hashed)) return text;
  return hashed + createHash("sha256").update(text).digest("hex");
}

/** The group in which entries of one key and destination keep their order. */
export function messageGroupId(
  orderingKey: string | null,
  destination: string,
  entryId: string,
): string {
  if (orderingKey === null) return fifoId(`entry:${entryId}`);
  return fifoId(`${escapeDestination(destination)}@${orderingKey}`);
}

/** Parked entries hold nobody back, so each is a group of its own in the dead-letter queue. */
export function parkedGroupId(entryId: string): string {
  return fifoId(`entry:${entryId}`);
}

/**
 * Each logical send of an entry has its own, and a repetition of the same send the same: with the
 * entry's id alone, SQS would accept a redrive within five minutes and deliver nothing.
 */
export function messageDeduplicationId(entryId: string, generation: number): string {
  return fifoId(`${entryId}#${generation}`);
}

function escapeDestination(destination: string): string {
  return destination.replaceAll("%", "%25").replaceAll("@", "%40").replaceAll(":", "%3A");
}
