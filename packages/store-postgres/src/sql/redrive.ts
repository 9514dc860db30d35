import type { ResolvedEntryFilter } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { quoteLiteral } from "../quote-identifier.js";
import { matchesFilter } from "./filter.js";
import { Parameters, type Statement } from "./statement.js";

/** Statuses that a redrive leaves. */
export const redrivableStatuses = ["failed", "dead-lettered"] as const;

/** How many would be redriven. Expected plan: a scan of the *settled* index by status. */
export function countRedrivableStatement(
  { quoted: { table } }: OutboxNames,
  filter: ResolvedEntryFilter,
): Statement {
  const parameters = new Parameters();
  return parameters.statement(
    `select count(*)::text from ${table} as entry
where entry.visible_at is null
  and entry.status = any (${parameters.addArray(redrivableStatuses, "text")})
  and ${matchesFilter("entry", parameters, filter)}`,
  );
}

/**
 * Gives one chunk of entries of one status another life: pending, due now. What someone else holds
 * (another redrive, a purge) is left to them. Expected plan: an ordered scan of the *settled* index
 * by status, then an index scan of the primary key.
 */
export function redriveStatement(
  { quoted: { table }, channel }: OutboxNames,
  filter: ResolvedEntryFilter,
  options: {
    readonly status: (typeof redrivableStatuses)[number];
    readonly by: string | null;
    readonly reason: string | null;
    readonly chunkSize: number;
    readonly notify: boolean;
  },
): Statement {
  const parameters = new Parameters();
  const now = "(select now from clock)";
  return parameters.statement(`with clock as materialized (select clock_timestamp() as now),
picked as materialized (
  select entry.entry_id
  from ${table} as entry
  where entry.visible_at is null and entry.status = ${parameters.add(options.status, "text")}
    and ${matchesFilter("entry", parameters, filter)}
  order by entry.updated_at
  limit ${parameters.add(options.chunkSize, "bigint")}
  for update skip locked
),
redriven as (
  update ${table} as entry set
    status = 'pending',
    updated_at = greatest(${now}, entry.updated_at + interval '1 millisecond'),
    -- Due now, not at its place of long ago: it must not overtake what waited all the time.
    available_at = ${now},
    visible_at = ${now},
    next_retry_at = null,
    retry_count = 0,
    dead_letter_reason = null,
    redriven_at = ${now},
    redriven_by = ${parameters.add(options.by, "text")},
    redrive_reason = ${parameters.add(options.reason, "text")},
    abandoned_claim_count = 0,
    solo_claim = false,
    solo_abandoned_count = 0
  where entry.entry_id = any (array(select entry_id from picked))
  returning 1
)
select count(*)::text${
    options.notify
      ? `, (select pg_notify(${quoteLiteral(channel)}, '')::text from redriven limit 1)`
      : ""
  } from redriven`);
}
