import type { EncodedPayload, OutboxEntry } from "@outbox/core";

/** The version that this package writes. It reads this one and all before. */
export const snapshotVersion = 1;

/** The claim, which is the message's visibility and not part of its body. */
export type ClaimFields =
  | "claimOwner"
  | "claimToken"
  | "claimedAt"
  | "claimExpiresAt"
  | "abandonedClaimCount"
  | "soloClaim"
  | "soloAbandonedCount"
  | "resolvedClaimToken"
  | "resolvedTransition";

/** What of an entry is in a body. `claimAttemptCount` is without the receives of this message. */
export type StoredEntry = Omit<OutboxEntry, ClaimFields | "envelope"> & {
  readonly envelope: Omit<OutboxEntry["envelope"], "payload">;
};

/** What the body of a message says. */
export interface Snapshot {
  /** Grows with every logical send: enqueue is 1, then each retry, deferral, dead letter, redrive. */
  readonly generation: number;
  /** Not due before, because the wait is longer than one delay of a message; `null` once it fits. */
  readonly notBefore: Date | null;
  readonly entry: StoredEntry;
  readonly payload: EncodedPayload;
}
