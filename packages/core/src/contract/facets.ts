import type { EmissionStatus, TerminalStatus } from "./emission-status.js";
import type { OutboxEntry, OutboxEntrySummary } from "./outbox-entry.js";

/**
 * Which entries an operation is about. All given conditions must hold; lists are alternatives. An
 * empty filter is refused: whoever means every entry says `{ all: true }`.
 */
export interface EntryFilter {
  readonly all?: true | undefined;
  readonly entryIds?: readonly string[] | undefined;
  readonly envelopeIds?: readonly string[] | undefined;
  readonly destinations?: readonly string[] | undefined;
  /** Exact (`order.placed`) or prefix (`order.*`) patterns. */
  readonly types?: readonly string[] | undefined;
  readonly statuses?: readonly EmissionStatus[] | undefined;
  readonly orderingKeys?: readonly string[] | undefined;
  /** Inclusive. */
  readonly createdFrom?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
  /** Inclusive. */
  readonly updatedFrom?: Date | undefined;
  /** Exclusive. */
  readonly updatedBefore?: Date | undefined;
}

export interface ListOptions {
  /** At most 1 000. @defaultValue 100 */
  readonly maxCount?: number | undefined;
  /** The cursor of an earlier page. */
  readonly after?: string | undefined;
}

export interface ListPage {
  /** In the order in which they were enqueued. */
  readonly entries: readonly OutboxEntrySummary[];
  /** Present when there may be more. */
  readonly cursor?: string | undefined;
}

export interface StatsOptions {
  /** Count delivered entries one by one instead of estimating. @defaultValue false */
  readonly exact?: boolean | undefined;
}

/** How much waits, how old, and who holds it. */
export interface OutboxStats {
  readonly byStatus: Readonly<Record<EmissionStatus, number>>;
  /** `byStatus.delivered` is the database's estimate. */
  readonly deliveredIsEstimate: boolean;
  /** Due and claimable now, expired leases included. */
  readonly ready: number;
  /** Under a live lease. */
  readonly leased: number;
  /** Under an expired lease. */
  readonly expired: number;
  /** Due later. */
  readonly delayed: number;
  /** Age of the longest due claimable entry, in ms; `null` if none is due. */
  readonly oldestReadyAgeMs: number | null;
  /** Not yet terminal, per type and destination, the largest first, at most 100. */
  readonly openByType: readonly {
    readonly type: string;
    readonly destination: string;
    readonly count: number;
  }[];
  /** Live leases per owner, the largest first, at most 100. */
  readonly leasedByOwner: readonly { readonly owner: string; readonly count: number }[];
}

/** Looking without touching. */
export interface InspectionFacet {
  list(filter: EntryFilter, options?: ListOptions): Promise<ListPage>;
  show(entryId: string): Promise<OutboxEntry | null>;
  stats(options?: StatsOptions): Promise<OutboxStats>;
}

export interface RedriveOptions {
  /** Who redrives, for the record; at most 255 characters. */
  readonly by?: string | undefined;
  /** Why, for the record. */
  readonly reason?: string | undefined;
  /** Count what would be redriven and change nothing. @defaultValue false */
  readonly dryRun?: boolean | undefined;
}

/** Back to `pending`, due now: the only way out of `failed` and `dead-lettered`. */
export interface RedriveFacet {
  /**
   * Redrives parked and dead-lettered entries that match. Keeps the failures and
   * `claimAttemptCount`, resets `retryCount`, the abandoned counters and `availableAt`. In chunks,
   * each one conditional statement: safe beside live traffic.
   */
  redrive(filter: EntryFilter, options?: RedriveOptions): Promise<{ readonly count: number }>;
}

export interface PurgeOptions {
  readonly status: TerminalStatus | readonly TerminalStatus[];
  /** Only entries whose last transition is at least this old, in ms, by the store's clock. */
  readonly olderThanMs: number;
  /** Entries per statement, at most 10 000. @defaultValue 1 000 */
  readonly batchSize?: number | undefined;
  /** Count what would be deleted and change nothing. @defaultValue false */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Deleting what is done. */
export interface RetentionFacet {
  /** Deletes terminal entries in chunks; safe beside live traffic. */
  purge(options: PurgeOptions): Promise<{ readonly count: number }>;
}

export interface MigrationReport {
  /** Version before; 0 is "not there". */
  readonly from: number;
  readonly to: number;
}

export interface SchemaReport {
  readonly ok: boolean;
  /** Version found; 0 is "not there". */
  readonly version: number;
  /** Version this package needs. */
  readonly expectedVersion: number;
  /** What is missing or different, one sentence each, with its remedy. */
  readonly problems: readonly string[];
}

/** One thing that is wrong, and what to do about it. */
export interface Finding {
  /** Stable, e.g. `outbox.doctor.clock_skew`. */
  readonly code: string;
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
  readonly remedy: string;
}

/** The host's schema changes only when asked. */
export interface SchemaFacet {
  /** Applies what is missing. Running it twice, or from several processes at once, is harmless. */
  migrate(): Promise<MigrationReport>;
  /** The same as text, for a host's own migration tool. */
  migrationSql(range?: { readonly from?: number; readonly to?: number }): string;
  checkSchema(): Promise<SchemaReport>;
  /** What is wrong with schema, settings, permissions and clocks. */
  diagnose(): Promise<readonly Finding[]>;
}

export interface WakeUpSubscription {
  /** Whether wake-ups arrive at present; polling delivers meanwhile. */
  readonly connected: boolean;
  close(): Promise<void>;
}

export interface WakeUpListener {
  /** New entries may be there. */
  onWakeUp(): void;
  /** The connection was lost or came back. */
  onConnectionChange?(connected: boolean, error?: unknown): void;
}

/** Telling a waiting worker at once. Polling is the backstop; a wake-up may be missed or surplus. */
export interface WakeUpFacet {
  subscribe(listener: WakeUpListener): Promise<WakeUpSubscription>;
}
