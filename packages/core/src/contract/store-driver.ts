import type { EncodedPayload } from "../entry/payload.js";
import type { ClaimBatch, SuspectFilter } from "./claim-request.js";
import type { EmissionEnvelope } from "./emission-envelope.js";
import type {
  EntryFilter,
  InspectionFacet,
  ListOptions,
  PurgeOptions,
  RetentionFacet,
  SchemaFacet,
  StatsOptions,
  WakeUpFacet,
} from "./facets.js";
import type { OutboxClaim } from "./outbox-claim.js";
import type { OutboxEntry } from "./outbox-entry.js";
import type { StoreCapabilities } from "./store-capabilities.js";
import type { Due, TransitionOutcome, TransitionWrite } from "./transition.js";

/**
 * What a store's author writes: one database's way of doing seven things, and whatever facets that
 * database can do (absent where it cannot, never a method that throws).
 *
 * `defineStore(driver)` adds everything that is the same for every store: validation, ids, payload
 * encoding, the state machine, tokens, deadlines, retries of transient errors, splitting of
 * batches. A driver may rely on its arguments being valid.
 */
export interface StoreDriver<Transaction = unknown> {
  /** For logs and events, e.g. `postgres`. */
  readonly name: string;
  readonly contractVersion: 1;
  readonly capabilities: StoreCapabilities;

  /**
   * Writes the entries, all or none. A (envelopeId, destination) that exists is left alone and
   * reported; it must not abort the caller's transaction. An `entryId` that belongs to another
   * pair is an `EntryIdTakenError`. Never retried behind the back of a caller's transaction.
   *
   * @throws NotATransactionError if `target.tx` can be told not to be an open transaction
   */
  insert(
    entries: readonly NewEntry[],
    target: InsertTarget<Transaction>,
  ): Promise<readonly InsertedEntry[]>;

  /**
   * Leases what is due, atomically: owner, token, claimedAt, claimExpiresAt and
   * `claimAttemptCount + 1` in one step, for at most `maxCount` entries, whatever the query plan.
   * Re-claiming an expired lease also adds 1 to `abandonedClaimCount`. Everything is judged by the
   * database's own clock.
   */
  claim(command: ClaimCommand): Promise<DriverClaimBatch>;

  /**
   * Applies each write if the stored token is the claim's; one outcome per entry, in input order,
   * decided as `TransitionOutcome` says. Sets `updatedAt` (not on release), clears the claim,
   * records token and kind as resolved, and resets the abandoned counters (not on release).
   * Must be safe to repeat. No two entries of a batch are the same.
   */
  complete(completions: readonly DriverCompletion[]): Promise<readonly DriverTransition[]>;

  /**
   * Moves the expiry to `leaseDurationMs` from the database's now where the token is still mine; in
   * input order. Must be safe to repeat. No two claims of a batch are of the same entry.
   */
  extend(
    claims: readonly OutboxClaim[],
    leaseDurationMs: number,
  ): Promise<readonly DriverExtension[]>;

  /** By number or SQLSTATE, never by message text. Called with anything a driver method threw. */
  classifyError(error: unknown): StoreErrorKind;

  /** Frees what the driver itself opened. Called once. */
  close(): Promise<void>;

  readonly selection?: SelectionDriver;
  readonly inspection?: InspectionDriver;
  readonly redrive?: RedriveDriver;
  readonly retention?: RetentionDriver;
  readonly schema?: SchemaFacet;
  readonly wakeUp?: WakeUpFacet;
}

/**
 * - `transient`: certainly not applied, and may work if repeated (also lost serialization races)
 * - `unknown-outcome`: may or may not have been applied (time-outs, lost connections)
 * - `invalid-data`: this value is refused by the database; others in the batch may pass
 * - `permanent`: repeating will not help (missing table, permission, bug)
 */
export type StoreErrorKind = "transient" | "unknown-outcome" | "invalid-data" | "permanent";

/** An entry to insert. `createdAt` and the due time are the database's. */
export interface NewEntry {
  readonly entryId: string;
  readonly destination: string;
  readonly envelope: Omit<EmissionEnvelope, "payload">;
  readonly payload: EncodedPayload;
  readonly metadata: Readonly<Record<string, string>>;
  readonly orderingKey: string | null;
  /** `null`: due at once. */
  readonly available: Due | null;
}

export type InsertTarget<Transaction> =
  | { readonly tx: Transaction; readonly autonomous?: never }
  | { readonly autonomous: true; readonly tx?: never };

export interface InsertedEntry {
  readonly enqueued: boolean;
  /** Of the entry that is there now. */
  readonly entryId: string;
}

/** Exact types and prefixes (of `order.*`, the part before the star); a type matching any passes. */
export interface TypeFilter {
  readonly exact: readonly string[];
  readonly prefixes: readonly string[];
}

export interface ClaimCommand {
  readonly kind: "any" | "pending" | "retry-ready";
  readonly workerId: string;
  readonly leaseDurationMs: number;
  readonly maxCount: number;
  readonly maxBytes: number | null;
  readonly types: TypeFilter | null;
  readonly suspects: SuspectFilter;
  readonly claimId: string | null;
  readonly after: string | null;
  /**
   * Unique per call. With `token: "core"` a driver stamps this plus something unique per entry,
   * e.g. `prefix:sequence`.
   */
  readonly tokenPrefix: string;
}

export interface DriverClaim {
  /** With its claim fields set. */
  readonly entry: OutboxEntry;
  /** What the due time was before this claim; `null` for one that was found again. */
  readonly dueAt: Date | null;
}

export interface DriverClaimBatch {
  /** The database's now: core reckons each lease's local deadline from `claimExpiresAt - at`. */
  readonly at: Date;
  /** In due order; live leases that a repeated `claimId` found again come first. */
  readonly claims: readonly DriverClaim[];
  readonly more: ClaimBatch["more"];
  readonly suspectsDue: boolean;
  readonly cursor: string | null;
}

export interface DriverCompletion {
  readonly claim: OutboxClaim;
  readonly write: TransitionWrite;
}

export interface DriverTransition {
  readonly outcome: TransitionOutcome;
  /** The database's now; needed when applied (core derives the entry from it and the write). */
  readonly at: Date | null;
  readonly replayed?: boolean | undefined;
  /** The entry as it stands, where nothing was applied now and it costs no further round trip. */
  readonly entry?: OutboxEntry | null | undefined;
}

export interface DriverExtension {
  readonly outcome: "applied" | "stale-claim" | "terminal" | "missing";
  readonly claimExpiresAt: Date | null;
  /**
   * The database's now, where the new lease may be shorter than was asked for: core then reckons
   * its local deadline from `claimExpiresAt - at`.
   */
  readonly at?: Date | undefined;
}

/** The compatibility path. */
export interface SelectionDriver {
  find(entryId: string): Promise<OutboxEntry | null>;
  /** Due, not under a live lease, in due order. */
  findDue(kind: "pending" | "retry-ready", maxCount: number): Promise<readonly OutboxEntry[]>;
  /**
   * Applies the write if the entry is not under a live lease (`leased`), not terminal (`terminal`),
   * and status and `updatedAt` are as read (`concurrency-lost`); one conditional statement. Clears
   * an expired claim.
   */
  save(read: OutboxEntry, write: TransitionWrite): Promise<DriverTransition>;
}

/** An `EntryFilter` that has been checked: `null` conditions are absent, not all are. */
export interface ResolvedEntryFilter {
  readonly entryIds: readonly string[] | null;
  readonly envelopeIds: readonly string[] | null;
  readonly destinations: readonly string[] | null;
  readonly types: TypeFilter | null;
  readonly statuses: NonNullable<EntryFilter["statuses"]> | null;
  readonly orderingKeys: readonly string[] | null;
  readonly createdFrom: Date | null;
  readonly createdBefore: Date | null;
  readonly updatedFrom: Date | null;
  readonly updatedBefore: Date | null;
}

export interface InspectionDriver {
  list(
    filter: ResolvedEntryFilter,
    options: Required<{ [K in keyof ListOptions]: NonNullable<ListOptions[K]> | null }> & {
      readonly maxCount: number;
    },
  ): ReturnType<InspectionFacet["list"]>;
  show(entryId: string): Promise<OutboxEntry | null>;
  stats(options: {
    readonly exact: NonNullable<StatsOptions["exact"]>;
  }): ReturnType<InspectionFacet["stats"]>;
}

export interface RedriveDriver {
  redrive(
    filter: ResolvedEntryFilter,
    options: {
      readonly by: string | null;
      readonly reason: string | null;
      readonly dryRun: boolean;
    },
  ): Promise<{ readonly count: number }>;
}

export interface RetentionDriver {
  purge(options: {
    readonly statuses: readonly ("delivered" | "dead-lettered")[];
    readonly olderThanMs: number;
    readonly batchSize: number;
    readonly dryRun: boolean;
    readonly signal: NonNullable<PurgeOptions["signal"]> | null;
  }): ReturnType<RetentionFacet["purge"]>;
}
