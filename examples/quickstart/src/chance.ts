import { createHash } from "node:crypto";

/**
 * A number from 0 to 1 that depends on the text alone: whose payment is declined, and what the
 * receiver does to whom, is the same in every run.
 */
export function chance(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}
