import type { OutboxClaim } from "./outbox-claim.js";

/** A suspect is an entry with an expired lease, or one whose lease expired before. */
export type SuspectFilter = "include" | "exclude" | "only";

/**
 * What to claim. There is no `now`: leases and due times are judged by the store's clock, and
 * production code must not be able to bend it.
 */
export interface ClaimRequest {
  /** Who claims, at most 255 characters; for people, never for fencing. */
  readonly workerId: string;
  /** @defaultValue 60 000 */
  readonly leaseDurationMs?: number | undefined;
  /** Most entries to claim. @defaultValue 100 */
  readonly maxCount?: number | undefined;
  /**
   * Most stored payload bytes to claim. The first due entry is always claimed, however big, and a
   * big entry is never skipped for a small one behind it.
   */
  readonly maxBytes?: number | undefined;
  /** Claim these event types only; exact (`order.placed`) or prefix (`order.*`) patterns. */
  readonly types?: readonly string[] | undefined;
  /** @defaultValue `"include"` */
  readonly suspects?: SuspectFilter | undefined;
  /** A repeat with the same id first returns the live leases that carry it (`claimReplay` stores). */
  readonly claimId?: string | undefined;
  /** The opaque cursor of an earlier batch, for the drain only; order holds without it. */
  readonly after?: string | undefined;
}

/** Result of a claim. */
export interface ClaimBatch {
  /** In due order, whatever order the database returned. */
  readonly claims: readonly OutboxClaim[];
  /**
   * Whether claiming again at once is worth it: `none`, nothing else is due; `likely`, the batch
   * was full; `contended`, candidates were seen and other workers won all of them.
   */
  readonly more: "none" | "likely" | "contended";
  /** Suspects are due that this request left out. */
  readonly suspectsDue: boolean;
  /** Where a following claim may start; see `ClaimRequest.after`. */
  readonly cursor?: string | undefined;
}

/** Result of a renewal. */
export interface ClaimExtension {
  readonly outcome: "applied" | "stale-claim" | "terminal" | "missing";
  /** The claim with the same token and a new deadline; `null` unless applied. */
  readonly claim: OutboxClaim | null;
}
