import type { OutboxNames } from "../outbox-names.js";
import { quoteLiteral } from "../quote-identifier.js";
import { isLeasedOrSuspectCounted, isReadyCounted } from "./eligibility.js";
import type { Statement } from "./statement.js";

/**
 * Columns of the result: groups of entries by everything the statistics ask for. `ageMicroseconds`
 * is that of the longest due one of a group. A group of status `delivered` may be an estimate.
 */
export const statsResult = {
  status: 0,
  type: 1,
  destination: 2,
  /** Owner of a lease, live or expired; NULL without one. */
  owner: 3,
  isDue: 4,
  count: 5,
  ageMicroseconds: 6,
} as const;

/**
 * Counts what is not delivered, and estimates or counts what is. Expected plan: scans of the two
 * partial indexes (or of the table, if most of it is open), and index-only scans of the *settled*
 * index by status.
 */
export function statsStatement({ quoted: { table } }: OutboxNames, exact: boolean): Statement {
  // Not from a CTE, which would keep the scans from being shared out to parallel workers.
  const now = "(select clock_timestamp())";
  const open = (condition: string, owner: string) => `select
    entry.status, entry.type, entry.destination, ${owner} as owner,
    entry.visible_at <= ${now} as is_due, count(*) as count, min(entry.visible_at) as due_at
  from ${table} as entry
  where ${condition}
  group by 1, 2, 3, 4, 5`;
  const delivered = exact
    ? `select count(*) from ${table} as entry
    where entry.visible_at is null and entry.status = 'delivered'`
    : // Rows as the activity statistics count them, or, where those were reset, as of the last
      // ANALYZE; less what was counted.
      `select greatest(0, coalesce(nullif(pg_stat_get_live_tuples(pg_class.oid), 0), reltuples)::bigint
      - (select coalesce(sum(count), 0) from counted))
    from pg_class where pg_class.oid = ${quoteLiteral(table)}::regclass`;
  return {
    text: `with counted as materialized (
  ${open(isReadyCounted("entry"), "null::text")}
  union all
  ${open(
    isLeasedOrSuspectCounted("entry"),
    "case when entry.claim_token is not null then entry.claim_owner end",
  )}
  union all
  select entry.status, entry.type, entry.destination, null, false, count(*), null
  from ${table} as entry
  where entry.visible_at is null and entry.status = 'failed'
  group by 1, 2, 3
  union all
  select entry.status, null, null, null, false, count(*), null
  from ${table} as entry
  where entry.visible_at is null and entry.status = 'dead-lettered'
  group by 1
)
select status, type, destination, owner, is_due::text, count::text,
  (extract(epoch from ${now} - due_at) * 1000000)::bigint::text
from counted
union all
select 'delivered', null, null, null, 'false', (${delivered})::text, null`,
    values: [],
  };
}
