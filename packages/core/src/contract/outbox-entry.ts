import type { EmissionEnvelope } from "./emission-envelope.js";
import type { EmissionStatus } from "./emission-status.js";
import type { TransitionKind } from "./transition.js";

/** One failed emission, kept for whoever has to find out why. */
export interface EntryFailure {
  /** By the store's clock, as far as the worker could tell. */
  readonly at: Date;
  readonly code: string;
  readonly message: string;
}

/** Who last redrove the entry, and why. */
export interface EntryRedrive {
  readonly at: Date;
  readonly by: string | null;
  readonly reason: string | null;
}

/**
 * One durable row or message of the outbox: an envelope for one destination, its emission state
 * and its claim. Immutable plain data; instants have millisecond precision here, whatever the
 * store keeps, and are never used by a store to compare or to fence.
 */
export interface OutboxEntry {
  /** Unique per outbox; derived from (envelopeId, destination) unless given. */
  readonly entryId: string;
  readonly destination: string;
  readonly envelope: EmissionEnvelope;
  /** Notes beside the envelope; the only caller's data a claim holder may change (`saveClaim`). */
  readonly metadata: Readonly<Record<string, string>>;
  readonly orderingKey: string | null;
  /** Bytes of the payload as stored. */
  readonly payloadBytes: number;

  readonly status: EmissionStatus;
  readonly createdAt: Date;
  /** Instant of the last transition, redrive or save; claims, renewals and releases do not move it. */
  readonly updatedAt: Date;
  /** Earliest emission asked for; `null` is at once. */
  readonly availableAt: Date | null;
  /** Due time after a failure or deferral; `null` is `updatedAt`. */
  readonly nextRetryAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly providerMessageId: string | null;
  readonly deadLetterReason: string | null;

  /** Failed emissions since enqueue or redrive. Never counts claims or releases. */
  readonly retryCount: number;
  /** The last few failures, oldest first. */
  readonly failures: readonly EntryFailure[];
  readonly lastRedrive: EntryRedrive | null;

  readonly claimOwner: string | null;
  readonly claimToken: string | null;
  readonly claimedAt: Date | null;
  readonly claimExpiresAt: Date | null;
  /** Claims ever taken; never goes down, not even on redrive: a fencing number for downstream. */
  readonly claimAttemptCount: number;

  /** Leases that expired and were re-claimed since the last applied transition but release. */
  readonly abandonedClaimCount: number;
  /** The current or last claim was taken as a single suspect. */
  readonly soloClaim: boolean;
  readonly soloAbandonedCount: number;

  /** Token and kind of the last applied transition: what makes its repetition harmless. */
  readonly resolvedClaimToken: string | null;
  readonly resolvedTransition: TransitionKind | null;
}

/** An entry as listed: everything but the payload. */
export interface OutboxEntrySummary extends Omit<OutboxEntry, "envelope"> {
  readonly envelope: Omit<EmissionEnvelope, "payload">;
}
