/** What a claim-loop process is to do. Plain JSON: it crosses a process boundary. */
export interface ClaimLoopOrder {
  readonly module: string;
  readonly args: unknown;
  readonly mutantId: string | null;
  readonly workerId: string;
  readonly leaseDurationMs: number;
  readonly maxCount: number;
  /** Claims to make; `null` is until nothing is left that this process could claim. */
  readonly rounds: number | null;
  /** Of the pseudo-random choices of `mixed`, so that a run can be repeated. */
  readonly seed: number;
  /**
   * - `mixed`: most claims are released, some abandoned, some fail, a few are delivered
   * - `deliver`: every claim is delivered
   * - `hold`: claims once, then does nothing until it is killed
   */
  readonly plan: "mixed" | "deliver" | "hold";
}

/** One lease, as the process that won it saw it. Instants are the store's, in ms since 1970. */
export interface LoggedClaim {
  readonly workerId: string;
  readonly entryId: string;
  readonly claimToken: string;
  readonly claimedAt: number;
  readonly claimExpiresAt: number;
  readonly claimAttemptCount: number;
}

export type ClaimLoopMessage =
  /** Sent before anything is done with the claims. */
  | { readonly kind: "claimed"; readonly claims: readonly LoggedClaim[] }
  /** These leases were ended by an applied transition. */
  | { readonly kind: "ended"; readonly claimTokens: readonly string[] }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: string };
