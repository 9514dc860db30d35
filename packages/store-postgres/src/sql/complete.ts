import type { DriverCompletion } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { Parameters, type Statement } from "./statement.js";
import { decidedColumns, decideTransitions, writeTransitions } from "./write-transitions.js";

/**
 * Applies a batch of transitions, each fenced by id and token: one statement, one outcome each (a
 * row of `transitionResult`, in the order given). Give them in an order of the ids.
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
  const ctes = [
    decideTransitions(
      table,
      parameters,
      inputs,
      `when claim_token = token then 'applied'
      when resolved_claim_token = token and resolved_transition = kind then 'replayed'
      when status in ('delivered', 'dead-lettered') then 'terminal'
      else 'stale-claim'`,
    ),
    ...writeTransitions(table, inputs, onDelivered),
  ];
  return parameters.statement(`with ${ctes.join(",\n")}
select ${decidedColumns} from decided order by position`);
}
