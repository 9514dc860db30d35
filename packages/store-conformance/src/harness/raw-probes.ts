import type { EmissionStatus, TransitionKind } from "@outbox/core";

/**
 * One entry as it is stored, read past the store: the kit asserts what is in the table, not what
 * the store says is in the table.
 *
 * Instants are milliseconds since 1970 by the store's clock, with a fraction where the column
 * keeps more than milliseconds: have the database compute the number (in PostgreSQL `extract(epoch
 * from claimed_at) * 1000`), so that no client time zone or `Date` rounding comes between.
 * Booleans, counters and texts are the column's value; a column that does not exist because the
 * store cannot have it is `null` (or 0, or false).
 */
export interface RawEntry {
  readonly entryId: string;
  readonly envelopeId: string;
  readonly destination: string;
  readonly type: string;
  readonly orderingKey: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** JSON text exactly as stored, or the bytes. */
  readonly payload: string | Uint8Array;
  readonly payloadBytes: number;

  readonly status: EmissionStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly availableAt: number | null;
  readonly nextRetryAt: number | null;
  readonly deliveredAt: number | null;
  /**
   * When the entry may be claimed, as claims judge it: the due column where there is one, else
   * computed here. While leased, the lease's end; `null` where it never may (terminal, parked).
   */
  readonly dueAt: number | null;

  readonly claimOwner: string | null;
  /** In the textual form of `OutboxClaim.claimToken`. */
  readonly claimToken: string | null;
  readonly claimedAt: number | null;
  readonly claimExpiresAt: number | null;
  readonly claimAttemptCount: number;

  readonly retryCount: number;
  /** How many failures are remembered, and their texts. */
  readonly failures: readonly { readonly code: string; readonly message: string }[];
  readonly deadLetterReason: string | null;
  readonly abandonedClaimCount: number;
  readonly soloClaim: boolean;
  readonly soloAbandonedCount: number;
  readonly resolvedClaimToken: string | null;
  readonly resolvedTransition: TransitionKind | null;
}

/** What `RawProbes.writeEntry` may set. `dueAt` follows from the rest and is the harness's to keep. */
export type RawChanges = Partial<
  Pick<
    RawEntry,
    | "status"
    | "updatedAt"
    | "availableAt"
    | "nextRetryAt"
    | "deliveredAt"
    | "claimOwner"
    | "claimToken"
    | "claimedAt"
    | "claimExpiresAt"
    | "claimAttemptCount"
    | "retryCount"
    | "deadLetterReason"
    | "abandonedClaimCount"
    | "soloClaim"
    | "soloAbandonedCount"
    | "resolvedClaimToken"
    | "resolvedTransition"
  >
>;

/**
 * Reading (and, for mutants, writing) the outbox past the store, over connections of the harness's
 * own. Must see what is committed at the moment of the call.
 */
export interface RawProbes {
  /** `null` if there is no such row. */
  readEntry(entryId: string): Promise<RawEntry | null>;
  /** Every row of this outbox, in sequence (the order in which they were inserted). */
  readEntries(): Promise<readonly RawEntry[]>;
  /** The store's clock, in milliseconds since 1970, as in `RawEntry`. */
  now(): Promise<number>;
  /**
   * Overwrites columns of one row, whatever they hold, in one committed statement, and moves the
   * due column to where the result says it belongs. No conformance case needs it; the broken
   * stores of `@outbox/store-conformance` do, so a harness without it cannot run those.
   */
  writeEntry?(entryId: string, changes: RawChanges): Promise<void>;
}
