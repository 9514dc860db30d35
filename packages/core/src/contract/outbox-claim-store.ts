import type { ClaimBatch, ClaimExtension, ClaimRequest } from "./claim-request.js";
import type { EmissionError } from "./emission-result.js";
import type { OutboxClaim } from "./outbox-claim.js";
import type { OutboxEntry } from "./outbox-entry.js";
import type { DeliveredResult, RetryOptions } from "./outbox-store.js";
import type { StoreCapabilities } from "./store-capabilities.js";
import type { ClaimTransition } from "./transition.js";

/** One member of a `completeClaims` batch. */
export type ClaimCompletion =
  | {
      readonly claim: OutboxClaim;
      readonly kind: "delivered";
      readonly result?: DeliveredResult | undefined;
    }
  | {
      readonly claim: OutboxClaim;
      readonly kind: "failed";
      readonly error: EmissionError;
      readonly retry?: RetryOptions | undefined;
    }
  | {
      readonly claim: OutboxClaim;
      readonly kind: "deferred";
      readonly retryInMs: number;
      readonly error?: EmissionError | undefined;
    }
  | {
      readonly claim: OutboxClaim;
      readonly kind: "dead-lettered";
      readonly error: EmissionError;
      readonly reason?: string | undefined;
      /** `false` for an entry that was not emitted. @defaultValue true */
      readonly countsFailure?: boolean | undefined;
    }
  | {
      readonly claim: OutboxClaim;
      readonly kind: "release";
      readonly delayMs?: number | undefined;
    };

/**
 * Claims with leases, for any number of workers. Delivery is at-least-once: a lease that expires
 * is claimed again, by anyone.
 *
 * - Only who holds a claim emits. A live lease blocks every other claimer; an expired one nobody.
 * - A transition, renewal or release applies only while the stored token is the claim's. Expired
 *   but not re-claimed still applies (where `lateCompletion` says so); stale changes nothing.
 * - Every applied transition clears the claim and, but for a release, the abandoned counters.
 * - Repeating a transition whose reply was lost changes nothing twice.
 * - A lost claim is an outcome. What is thrown is a store error or an invalid argument.
 */
export interface OutboxClaimStore {
  readonly contractVersion: 1;
  /** The store's name for logs and events, e.g. `postgres`. */
  readonly storeName: string;
  readonly capabilities: StoreCapabilities;

  /** Claims what is due, both kinds in one due order, in one round trip. */
  claim(request: ClaimRequest): Promise<ClaimBatch>;
  /** Claims due entries of status `pending`. */
  claimPending(request: ClaimRequest): Promise<ClaimBatch>;
  /** Claims due entries of status `retryable-failure` or `deferred`. */
  claimRetryReady(request: ClaimRequest): Promise<ClaimBatch>;

  markClaimDelivered(claim: OutboxClaim, result?: DeliveredResult): Promise<ClaimTransition>;
  /** `retryable-failure` if a retry time is given or `error.isRetryable`, else `failed` (parked). */
  markClaimFailed(
    claim: OutboxClaim,
    error: EmissionError,
    retry?: RetryOptions,
  ): Promise<ClaimTransition>;
  /** `reason` is stored as `deadLetterReason`. @defaultValue the error's code */
  markClaimDeadLettered(
    claim: OutboxClaim,
    error: EmissionError,
    reason?: string,
  ): Promise<ClaimTransition>;
  /**
   * Saves a legal move of the state machine: to `deferred`, `retryable-failure` or `pending`.
   * Writes status, due time, failures and metadata; never envelope, ids, key or counters.
   */
  saveClaim(claim: OutboxClaim, entry: OutboxEntry): Promise<ClaimTransition>;
  /** Gives the entry back unemitted, at its old due time, or `delayMs` from now. Counts nothing. */
  releaseClaim(
    claim: OutboxClaim,
    options?: { readonly delayMs?: number | undefined },
  ): Promise<ClaimTransition>;
  /** Many transitions at once; outcomes in input order. */
  completeClaims(completions: readonly ClaimCompletion[]): Promise<readonly ClaimTransition[]>;
  /** Renews leases to `leaseDurationMs` from the store's now, keeping the token; in input order. */
  extendClaims(
    claims: readonly OutboxClaim[],
    options: { readonly leaseDurationMs: number },
  ): Promise<readonly ClaimExtension[]>;

  /** Frees what the store itself opened; never a pool that was handed in. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
