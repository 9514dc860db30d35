import type { OutboxEntry, TransitionWrite } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { entryColumnsJson, payloadColumns, rawEntryColumns } from "./entry-columns.js";
import { instantFromMilliseconds, instantToText } from "./instant.js";
import { Parameters, type Statement } from "./statement.js";
import { decidedTransitions, transitionInput, writeTransitions } from "./write-transitions.js";

/**
 * Writes a transition without a claim, if nobody holds one and the entry is as it was read: one
 * conditional statement, with the result of `completeStatement`.
 *
 * The version is status, `updated_at` cut to the milliseconds that a `Date` can carry (every write
 * moves it by at least one), and the number of claims.
 */
export function saveStatement(
  { quoted: { table } }: OutboxNames,
  read: OutboxEntry,
  write: TransitionWrite,
  onDelivered: "keep" | "delete",
): Statement {
  const parameters = new Parameters();
  const inputs = [{ entryId: read.entryId, claimToken: null, write, read }];
  const ids = parameters.addArray([read.entryId], "text");
  const status = parameters.add(read.status, "text");
  const updatedAt = parameters.add(read.updatedAt.getTime(), "float8");
  const claims = parameters.add(read.claimAttemptCount, "integer");
  const ctes = [
    transitionInput(parameters, inputs, ids),
    `locked as materialized (
  select ${rawEntryColumns("entry", payloadColumns)}
  from ${table} as entry
  where entry.entry_id = any (${ids})
  for update
)`,
    decidedTransitions(`when locked.claim_token is not null
        and locked.visible_at > clock_timestamp() then 'leased'
      when locked.status in ('delivered', 'dead-lettered') then 'terminal'
      when locked.status <> ${status} or locked.claim_attempt_count <> ${claims}
        or date_trunc('milliseconds', locked.updated_at) <> ${instantFromMilliseconds(updatedAt)}
        then 'concurrency-lost'
      else 'applied'`),
    ...writeTransitions(table, inputs, onDelivered),
  ];
  return parameters.statement(`with ${ctes.join(",\n")}
select decided.outcome, ${instantToText("decided.at")},
  case when state.entry_id is not null then ${entryColumnsJson("state", payloadColumns)} end
from decided
left join locked as state on state.entry_id = decided.entry_id and decided.outcome <> 'applied'`);
}
