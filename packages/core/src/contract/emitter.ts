import type { EmissionEnvelope } from "./emission-envelope.js";
import type { EmissionResult } from "./emission-result.js";
import type { OutboxClaim } from "./outbox-claim.js";
import type { OutboxEntry } from "./outbox-entry.js";

/** What an emitter is told besides the envelope. */
export interface EmissionContext {
  /**
   * Aborted when the lease is lost, the emission times out, or the worker's stop runs out of time.
   * An emitter that ignores it holds its slot longer and risks a duplicate.
   */
  readonly signal: AbortSignal;
  /** 1 for the first emission; counts failed emissions, not claims. */
  readonly attempt: number;
  /** The entry as claimed; `entry.claimAttemptCount` is a fencing number for downstream. */
  readonly entry: OutboxEntry;
  /** The lease under which this emission runs; `null` on the compatibility path. */
  readonly claim: OutboxClaim | null;
  /** The envelope's id: send it downstream, so that a duplicate can be recognised there. */
  readonly idempotencyKey: string;
}

/**
 * Sends one envelope to a provider. Returning (nothing, or a result) means what the result says;
 * throwing means a retryable failure, unless it is a `NonRetryableEmissionError`.
 */
export type Emit<Envelope extends EmissionEnvelope = EmissionEnvelope> = (
  envelope: Envelope,
  context: EmissionContext,
) => EmissionResult | undefined | void | Promise<EmissionResult | undefined | void>;

/** One member of a batch. */
export interface BatchMember {
  readonly envelope: EmissionEnvelope;
  readonly context: EmissionContext;
}

/**
 * Sends several envelopes in one call. Returns one result per member, in order. If it throws, takes
 * too long or returns another number of results, nothing is counted for anyone, and each member is
 * emitted by itself.
 */
export type EmitBatch = (
  batch: readonly BatchMember[],
) => readonly EmissionResult[] | Promise<readonly EmissionResult[]>;

/** An emitter with more to say than a plain function. */
export interface Emitter {
  readonly emit: Emit;
  /** Used instead of `emit` where several entries wait. */
  readonly emitBatch?: EmitBatch | undefined;
  /** Most members of a batch. @defaultValue 100 */
  readonly maxBatchSize?: number | undefined;
  /**
   * The event types this emitter handles, where it knows them: exact (`order.placed`) or prefix
   * (`order.*`) patterns. Absent: everything.
   */
  readonly types?: readonly string[] | undefined;
  /**
   * Which provider an entry goes to. Circuits and rate limits are kept per route.
   * @defaultValue one route, `"default"`
   */
  routeOf?(entry: OutboxEntry): string;
  /** The routes that `routeOf` can name. */
  readonly routes?: readonly string[] | undefined;
  /** Frees what the emitter holds. Called by whoever created it, never by the worker. */
  close?(): Promise<void>;
}

/** A plain async function is an emitter. */
export type EmitterLike = Emit | Emitter;
