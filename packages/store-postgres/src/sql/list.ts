import type { ResolvedEntryFilter } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { entryColumns, payloadColumns } from "./entry-columns.js";
import { matchesFilter } from "./filter.js";
import { Parameters, type Statement } from "./statement.js";

/** Columns of the result; `entry` is followed by those of `entryColumns`. */
export const listResult = { sequence: 0, entry: 1 } as const;

/**
 * One page more one, in the order of enqueueing. Ids use their indexes; anything else is a scan
 * with a top-n sort: an index on `seq` would cost every claim and every transition to spare an
 * operator some hundred milliseconds per million rows.
 */
export function listStatement(
  { quoted: { table } }: OutboxNames,
  filter: ResolvedEntryFilter,
  maxCount: number,
  after: string | null,
): Statement {
  const parameters = new Parameters();
  const matches = matchesFilter("entry", parameters, filter);
  const place = after === null ? "" : ` and entry.seq > ${parameters.add(after, "bigint")}`;
  return parameters.statement(`select entry.seq::text, ${entryColumns("entry", payloadColumns)}
from ${table} as entry
where ${matches}${place}
order by entry.seq
limit ${parameters.add(maxCount + 1, "bigint")}`);
}
