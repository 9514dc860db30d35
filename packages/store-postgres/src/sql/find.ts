import type { OutboxNames } from "../outbox-names.js";
import { isLeasedOrSuspect, isReady, isWanted } from "./eligibility.js";
import { entryColumns, rawEntryColumns } from "./entry-columns.js";
import { Parameters, type Statement } from "./statement.js";

/** One entry. Expected plan: an index scan of the primary key. */
export function findStatement({ quoted: { table } }: OutboxNames, entryId: string): Statement {
  const parameters = new Parameters();
  return parameters.statement(
    `select ${entryColumns("entry")} from ${table} as entry where entry.entry_id = ${parameters.add(entryId, "text")}`,
  );
}

/**
 * What is due and under no live lease, in due order, without locking anything. Expected plan: an
 * ordered scan of each partial index, merged.
 */
export function findDueStatement(
  { quoted: { table } }: OutboxNames,
  kind: "pending" | "retry-ready",
  maxCount: number,
): Statement {
  const parameters = new Parameters();
  const wanted = isWanted("entry", parameters, { kind, types: null });
  const limit = parameters.add(maxCount, "bigint");
  const branch = (condition: string) => `(
  select entry.visible_at as due_at, entry.seq, ${entryColumns("entry")}
  from ${table} as entry
  where ${condition} and entry.visible_at <= (select clock_timestamp())${wanted}
  order by entry.visible_at, entry.seq
  limit ${limit}
)`;
  return parameters.statement(`select ${rawEntryColumns("due")}
from (${branch(isReady("entry"))} union all ${branch(isLeasedOrSuspect("entry"))}) as due
order by due.due_at, due.seq
limit ${limit}`);
}
