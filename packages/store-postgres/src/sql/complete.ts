import type { DriverCompletion } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { entryColumnsJson, payloadColumns, rawEntryColumns } from "./entry-columns.js";
import { instantToText } from "./instant.js";
import { Parameters, type Statement } from "./statement.js";
import { decidedTransitions, transitionInput, writeTransitions } from "./write-transitions.js";

/**
 * Columns of the result; one row per completion, in input order. `state` is the entry as it stands,
 * without payload, as a JSON array of `entryColumns`; only where nothing was applied.
 */
export const completeResult = { outcome: 0, at: 1, state: 2 } as const;

/**
 * Applies a batch of transitions, each fenced by id and token; one statement, one outcome each.
 *
 * Expected plan: `locked` is an index scan of the primary key whose rows are sorted (a batch, in
 * memory) before they are locked; the writes are index scans of the primary key again.
 */
export function completeStatement(
  { quoted: { table } }: OutboxNames,
  completions: readonly DriverCompletion[],
  onDelivered: "keep" | "delete",
): Statement {
  const parameters = new Parameters();
  const inputs = completions.map(({ claim: { entry, claimToken }, write }) => ({
    entryId: entry.entryId,
    claimToken,
    write,
    read: entry,
  }));
  const ids = parameters.addArray(
    inputs.map(({ entryId }) => entryId),
    "text",
  );
  const ctes = [
    transitionInput(parameters, inputs, ids),
    // In one order, whoever completes, so that two batches cannot wait for each other. What is
    // read here was read again after the lock (READ COMMITTED), so what it decides stays true.
    `locked as materialized (
  select ${rawEntryColumns("entry", payloadColumns)}
  from ${table} as entry
  where entry.entry_id = any (${ids})
  order by entry.entry_id
  for update
)`,
    decidedTransitions(`when locked.claim_token = input.token then 'applied'
      when locked.resolved_claim_token = input.token
        and locked.resolved_transition = input.kind then 'replayed'
      when locked.status in ('delivered', 'dead-lettered') then 'terminal'
      else 'stale-claim'`),
    ...writeTransitions(table, inputs, onDelivered),
  ];
  return parameters.statement(`with ${ctes.join(",\n")}
select decided.outcome, ${instantToText("decided.at")},
  case when state.entry_id is not null then ${entryColumnsJson("state", payloadColumns)} end
from decided
left join locked as state on state.entry_id = decided.entry_id and decided.outcome <> 'applied'
order by decided.position`);
}
