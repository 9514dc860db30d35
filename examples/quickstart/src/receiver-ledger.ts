import type { Pool } from "pg";
import type { Reaction } from "./receiver-faults.js";

/** What became of one request: `duplicate` was recognised by its key, and not processed again. */
export type RequestOutcome = "processed" | "duplicate" | "refused";

/** One line of the receiver's own, append-only ledger. */
export interface ReceivedRequest {
  readonly idempotencyKey: string;
  readonly orderId: string;
  readonly workerId: string;
  readonly outcome: RequestOutcome;
  /** `false`: the receiver kept silent on purpose. */
  readonly answered: boolean;
}

export interface ReceiverLedger {
  createTables(): Promise<void>;
  /** Processes a request at most once per key, and writes it down, in one transaction. */
  record(request: {
    readonly idempotencyKey: string;
    readonly orderId: string;
    readonly workerId: string;
    readonly reaction: Reaction;
  }): Promise<RequestOutcome>;
  /** All requests, in the order in which they came. */
  requests(): Promise<readonly ReceivedRequest[]>;
  counts(): Promise<ReceiverCounts>;
}

export interface ReceiverCounts {
  readonly requests: number;
  readonly refused: number;
  readonly unanswered: number;
  readonly duplicates: number;
}

/** The ledger lives in the receiver's own database, which the outbox knows nothing of. */
export function createReceiverLedger(pool: Pool): ReceiverLedger {
  return {
    async createTables() {
      await pool.query(`
        create table parcels (idempotency_key text primary key, order_id text not null);
        create table requests (
          sequence bigint generated always as identity primary key,
          idempotency_key text not null,
          order_id text not null,
          worker_id text not null,
          outcome text not null,
          answered boolean not null
        );`);
    },

    async record({ idempotencyKey, orderId, workerId, reaction }) {
      const { rows } = await pool.query<{ outcome: RequestOutcome }>(recordSql, [
        idempotencyKey,
        orderId,
        workerId,
        reaction,
      ]);
      return rows[0]?.outcome ?? "refused";
    },

    async requests() {
      const { rows } = await pool.query<ReceivedRequest>(`
        select idempotency_key as "idempotencyKey", order_id as "orderId",
               worker_id as "workerId", outcome, answered
        from requests order by sequence`);
      return rows;
    },

    async counts() {
      const { rows } = await pool.query<ReceiverCounts>(`
        select count(*)::int as requests,
               count(*) filter (where outcome = 'refused')::int as refused,
               count(*) filter (where not answered)::int as unanswered,
               count(*) filter (where outcome = 'duplicate')::int as duplicates
        from requests`);
      return rows[0] ?? { requests: 0, refused: 0, unanswered: 0, duplicates: 0 };
    },
  };
}

// The parcel is the receiver's work. Its key makes the second request for it change nothing.
const recordSql = `
  with parcel as (
    insert into parcels (idempotency_key, order_id)
    select $1, $2 where $4 <> 'refuse'
    on conflict do nothing
    returning 1
  )
  insert into requests (idempotency_key, order_id, worker_id, outcome, answered)
  select $1, $2, $3,
         case when $4 = 'refuse' then 'refused'
              when exists (select from parcel) then 'processed'
              else 'duplicate' end,
         $4 <> 'silence'
  returning outcome`;
