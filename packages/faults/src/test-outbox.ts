import type { EmissionStatus, EnqueueAttributes, EnqueueInput } from "@outbox/core";
import { createPostgresStore, type PostgresStore } from "@outbox/store-postgres";
import pg from "pg";

/** What the table says of an entry. */
export interface StoredEntry {
  readonly entryId: string;
  readonly status: EmissionStatus;
  readonly deadLetterReason: string | null;
  readonly retryCount: number;
  readonly claimAttemptCount: number;
  readonly abandonedClaimCount: number;
  readonly soloAbandonedCount: number;
  readonly isLeased: boolean;
  readonly availableAt: Date | null;
  readonly deliveredAt: Date | null;
}

/** An outbox in a database of its own, read directly, not through the store. */
export interface TestOutbox {
  readonly store: PostgresStore;
  /**
   * Enqueues entries with the ids `e<first>` onwards, which are their idempotency keys too; returns
   * the ids.
   */
  enqueue(
    count: number,
    attributes?: Omit<EnqueueAttributes, "entryId" | "envelopeId"> & { readonly type?: string },
  ): Promise<readonly string[]>;
  entries(): Promise<readonly StoredEntry[]>;
  /** How many entries have this status. */
  count(status: EmissionStatus): Promise<number>;
  /** Makes the database believe that so much time has passed, in ms. */
  passTime(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Most entries of one enqueue. */
const largestEnqueue = 1_000;

/** Migrates an empty database. */
export async function createTestOutbox(databaseUrl: string): Promise<TestOutbox> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 3 });
  pool.on("error", () => {});
  const store = createPostgresStore({ pool });
  await store.migrate();
  let last = 0;
  return {
    store,
    async enqueue(count, { type = "test.event", ...attributes } = {}) {
      const ids = Array.from({ length: count }, () => `e${++last}`);
      for (let from = 0; from < count; from += largestEnqueue) {
        const inputs = ids
          .slice(from, from + largestEnqueue)
          .map((id): EnqueueInput => ({ type, ...attributes, entryId: id, envelopeId: id }));
        await store.enqueue(inputs, { autonomous: true });
      }
      return ids;
    },
    async entries() {
      const { rows } = await pool.query<StoredEntry>(entriesSql);
      return rows;
    },
    async count(status) {
      const { rows } = await pool.query<{ count: number }>(
        "select count(*)::integer as count from outbox_entry where status = $1",
        [status],
      );
      return rows[0]?.count ?? 0;
    },
    async passTime(ms) {
      const client = await pool.connect();
      try {
        await client.query("begin");
        // A claim and this would otherwise lock the same rows in different orders.
        await client.query("lock table outbox_entry in exclusive mode");
        await client.query(passTimeSql, [ms]);
        await client.query("commit");
      } finally {
        client.release();
      }
    },
    async close() {
      await store.close();
      await pool.end();
    },
  };
}

const entriesSql = `
  select entry_id as "entryId", status, dead_letter_reason as "deadLetterReason",
         retry_count as "retryCount", claim_attempt_count as "claimAttemptCount",
         abandoned_claim_count as "abandonedClaimCount",
         solo_abandoned_count as "soloAbandonedCount",
         claim_token is not null as "isLeased",
         available_at as "availableAt", delivered_at as "deliveredAt"
  from outbox_entry order by seq`;

const passTimeSql = `update outbox_entry set ${[
  "visible_at",
  "created_at",
  "updated_at",
  "available_at",
  "next_retry_at",
  "delivered_at",
  "claimed_at",
]
  .map((column) => `${column} = ${column} - $1::float8 * interval '1 millisecond'`)
  .join(", ")}`;
