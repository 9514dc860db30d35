/** How a worker is doing, for a health endpoint. */
export interface WorkerHealth {
  /**
   * - `healthy`
   * - `degraded`: works, but not at its best (store errors just now, wake-ups not arriving)
   * - `unhealthy`: for `unhealthyAfterMs` the store has been failing, or there was no progress
   * - `stopped`: not running, or paused
   */
  readonly status: "healthy" | "degraded" | "unhealthy" | "stopped";
  /** Why not healthy, one sentence each. */
  readonly problems: readonly string[];
  readonly lastClaimAt: Date | null;
  readonly lastDeliveryAt: Date | null;
  /** Store errors since the store last worked as a whole. */
  readonly consecutiveFailures: number;
  readonly lastError: string | null;
  /** How long the oldest entry of the last claim had been due, in ms; 0 if it found nothing. */
  readonly lagMs: number | null;
  readonly emitting: number;
  readonly queued: number;
  /** Emitted, and not yet written to the store. */
  readonly unfinalized: number;
  readonly expectedDuplicates: number;
  /** Routes whose provider is taken to be down, and only probed. */
  readonly openCircuits: readonly string[];
  /** A suspect waits because nothing was delivered since its last crash: is this process sick? */
  readonly crashLoop: boolean;
  readonly wakeUp: "connected" | "disconnected" | "none";
}
