import type { OutboxEntry, TransitionWrite } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { instantFromMilliseconds } from "./instant.js";
import { Parameters, type Statement } from "./statement.js";
import { decidedColumns, decideTransitions, writeTransitions } from "./write-transitions.js";

/**
 * Writes a transition without a claim, if nobody holds one and the entry is as it was read: one
 * conditional statement; its row is a `transitionResult`.
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
  const updatedAt = instantFromMilliseconds(parameters.add(read.updatedAt.getTime(), "float8"));
  const ctes = [
    decideTransitions(
      table,
      parameters,
      inputs,
      `when claim_token is not null and visible_at > clock_timestamp() then 'leased'
      when status in ('delivered', 'dead-lettered') then 'terminal'
      when status <> ${parameters.add(read.status, "text")}
        or claim_attempt_count <> ${parameters.add(read.claimAttemptCount, "integer")}
        or date_trunc('milliseconds', updated_at) <> ${updatedAt} then 'concurrency-lost'
      else 'applied'`,
    ),
    ...writeTransitions(table, inputs, onDelivered),
  ];
  return parameters.statement(`with ${ctes.join(",\n")}
select ${decidedColumns} from decided`);
}
