import type { OutboxClaim } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { instantToText } from "./instant.js";
import { Parameters, type Statement } from "./statement.js";

/** Columns of the result; one row per claim, in input order. */
export const extendResult = { outcome: 0, claimExpiresAt: 1 } as const;

/**
 * Moves the ends of leases, each fenced by id and token. Expected plan: as of `completeStatement`,
 * with which it shares the order of locks.
 */
export function extendStatement(
  { quoted: { table } }: OutboxNames,
  claims: readonly OutboxClaim[],
  leaseDurationMs: number,
): Statement {
  const parameters = new Parameters();
  const ids = parameters.addArray(
    claims.map(({ entry }) => entry.entryId),
    "text",
  );
  const tokens = parameters.addArray(
    claims.map(({ claimToken }) => claimToken),
    "text",
  );
  const lease = parameters.add(leaseDurationMs, "float8");
  return parameters.statement(`with input as materialized (
  select * from unnest(${ids}, ${tokens}) with ordinality as given (entry_id, token, position)
),
locked as materialized (
  select entry.entry_id, entry.claim_token, entry.status
  from ${table} as entry
  where entry.entry_id = any (${ids})
  order by entry.entry_id
  for update
),
decided as materialized (
  select input.entry_id, input.position,
    -- By the clock after the lock: waiting for it must not shorten the lease.
    clock_timestamp() + ${lease} * interval '1 millisecond' as expires_at,
    case
      when locked.entry_id is null then 'missing'
      when locked.claim_token = input.token then 'applied'
      when locked.status in ('delivered', 'dead-lettered') then 'terminal'
      else 'stale-claim'
    end as outcome
  from input
  left join locked on locked.entry_id = input.entry_id
),
extended as (
  update ${table} as entry set visible_at = decided.expires_at
  from decided
  where entry.entry_id = decided.entry_id and decided.outcome = 'applied'
    and entry.entry_id = any (array(select entry_id from decided where outcome = 'applied'))
)
select decided.outcome, ${instantToText("decided.expires_at")}
from decided
order by decided.position`);
}
