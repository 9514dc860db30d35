/**
 * Holds one claimer inside its claim, so that the race between two claimers is played out at its
 * worst moment instead of being hoped for.
 */
export interface ClaimGate {
  /**
   * From now on, a claim by `workerId` (of whatever store instance on this outbox) stops after it
   * has picked and locked its rows and before what it wrote is committed. Claims by others are not
   * held. In PostgreSQL: a row trigger BEFORE UPDATE that waits for an advisory lock when
   * `NEW.claim_owner` is that worker. One worker is held at a time.
   */
  hold(workerId: string): Promise<HeldClaim>;
}

export interface HeldClaim {
  /** Resolves once a claim waits at the gate (ask the database; do not sleep). */
  reached(): Promise<void>;
  /** Opens the gate, for the waiting claim and later ones. Twice is harmless. */
  release(): Promise<void>;
}
