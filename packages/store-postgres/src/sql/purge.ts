import type { OutboxNames } from "../outbox-names.js";
import { Parameters, type Statement } from "./statement.js";

interface PurgeConditions {
  readonly status: string;
  readonly olderThanMs: number;
}

function isOld(parameters: Parameters, { status, olderThanMs }: PurgeConditions): string {
  return `entry.visible_at is null and entry.status = ${parameters.add(status, "text")}
    and entry.updated_at <= (
      select clock_timestamp() - ${parameters.add(olderThanMs, "float8")} * interval '1 millisecond'
    )`;
}

/** How many would be deleted. Expected plan: a range of the *settled* index. */
export function countPurgeableStatement(
  { quoted: { table } }: OutboxNames,
  conditions: PurgeConditions,
): Statement {
  const parameters = new Parameters();
  return parameters.statement(
    `select count(*)::text from ${table} as entry where ${isOld(parameters, conditions)}`,
  );
}

/**
 * Deletes one chunk of old terminal entries of one status, the oldest first. What someone else
 * holds is left to them, so that it waits for nobody. Expected plan: an ordered range of the
 * *settled* index (a sequential scan, which looks cheap for a chunk, would walk over all that was
 * deleted before it), then index scans of the primary key.
 */
export function purgeStatement(
  { quoted: { table } }: OutboxNames,
  conditions: PurgeConditions,
  batchSize: number,
): Statement {
  const parameters = new Parameters();
  return parameters.statement(`with picked as materialized (
  select entry.entry_id
  from ${table} as entry
  where ${isOld(parameters, conditions)}
  order by entry.updated_at
  limit ${parameters.add(batchSize, "bigint")}
  for update skip locked
),
deleted as (
  delete from ${table} as entry
  where entry.entry_id = any (array(select entry_id from picked))
  returning 1
)
select count(*)::text from deleted`);
}
