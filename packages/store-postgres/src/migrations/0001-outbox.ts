import type { OutboxNames } from "../outbox-names.js";
import { leasedPredicate, readyPredicate } from "../sql/eligibility.js";
import { enqueueFunctionSql } from "./enqueue-function.js";
import type { Migration } from "./migration.js";

/**
 * The table of entries. Why it is laid out this way: docs/adr/0002-postgres-due-column.md.
 *
 * - Fixed-size columns first: no padding between them.
 * - `visible_at` is the one due column: when the entry may be claimed, and while it is leased the
 *   lease's end (so there is no second column for that). NULL: never (terminal or parked).
 * - `payload` is json, not jsonb, which would reorder keys and refuse `\u0000`.
 * - Every claim and every transition is a non-HOT update, so each index is paid for each time:
 *   partial ones hold an entry only while it is in that state.
 */
function tableSql({ quoted }: OutboxNames): string {
  return `create table ${quoted.table} (
  seq bigint generated always as identity,
  payload_bytes bigint not null,
  visible_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  occurred_at timestamptz not null,
  available_at timestamptz,
  next_retry_at timestamptz,
  delivered_at timestamptz,
  redriven_at timestamptz,
  claimed_at timestamptz,
  claim_attempt_count integer not null default 0,
  retry_count integer not null default 0,
  abandoned_claim_count integer not null default 0,
  solo_abandoned_count integer not null default 0,
  solo_claim boolean not null default false,
  status text collate "C" not null default 'pending',
  entry_id text collate "C" not null,
  envelope_id text collate "C" not null,
  destination text collate "C" not null,
  type text collate "C" not null,
  ordering_key text collate "C",
  claim_token text collate "C",
  claim_id text collate "C",
  resolved_claim_token text collate "C",
  resolved_transition text collate "C",
  claim_owner text,
  source text not null,
  subject text,
  data_content_type text not null,
  data_schema text,
  traceparent text,
  metadata json not null default '{}',
  failures json not null default '[]',
  provider_message_id text,
  dead_letter_reason text,
  redriven_by text,
  redrive_reason text,
  payload json,
  payload_binary bytea,
  constraint ${quoted.bareIndex("primaryKey")} primary key (entry_id),
  constraint ${quoted.bareIndex("envelope")} unique (envelope_id, destination)
) with (
  -- A queue's dead rows come fast and lie at the head of its indexes: clean up early and often.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_limit = 2000,
  autovacuum_analyze_scale_factor = 0.05,
  -- Giving pages back to the system takes an exclusive lock, and a queue needs them again soon.
  vacuum_truncate = false
);`;
}

function indexesSql({ quoted }: OutboxNames): string {
  return `-- What an ordinary claim reads: due, nobody's, never abandoned. COALESCE keeps the planner from
-- trusting statistics about it, which are always of another time.
create index ${quoted.bareIndex("ready")} on ${quoted.table} (visible_at, seq)
  where ${readyPredicate};

-- Leases, by their end, and entries whose lease ended before. Kept apart from the ready ones,
-- because a stalled worker's leases would otherwise lie before everything that is due.
create index ${quoted.bareIndex("leased")} on ${quoted.table} (visible_at, seq)
  where ${leasedPredicate};

-- Finds the leases of a claim whose reply was lost.
create index ${quoted.bareIndex("claimId")} on ${quoted.table} (claim_id)
  where claim_id is not null;

-- What is never claimed by itself: for retention, redrive and counting.
create index ${quoted.bareIndex("settled")} on ${quoted.table} (status, updated_at)
  where visible_at is null;

-- Per-key order; entries without a key are not in it.
create index ${quoted.bareIndex("orderingKey")} on ${quoted.table} (ordering_key, destination, seq)
  where ordering_key is not null and status <> 'delivered';`;
}

export const migration0001: Migration = {
  version: 1,
  name: "outbox",
  sql: (names) => `${tableSql(names)}\n\n${indexesSql(names)}\n\n${enqueueFunctionSql(names)}`,
};
