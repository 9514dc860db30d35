import type { OutboxClaim } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { instantToText } from "./instant.js";
import { Parameters, type Statement } from "./statement.js";

/** Columns of the result; one row per claim, in the order given. */
export const extendResult = { outcome: 0, claimExpiresAt: 1 } as const;

/**
 * Moves the ends of leases, each fenced by id and token. Give them in an order of the ids, that of
 * `completeStatement`, whose plan this one's is too.
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
  return parameters.statement(`with decided as materialized (
  select input.*,
    -- By the clock after the lock: waiting for it must not shorten the lease.
    clock_timestamp()
      + ${parameters.add(leaseDurationMs, "float8")} * interval '1 millisecond' as expires_at,
    case
      when entry_id is null then 'missing'
      when claim_token = token then 'applied'
      when status in ('delivered', 'dead-lettered') then 'terminal'
      else 'stale-claim'
    end as outcome
  from unnest(${ids}, ${tokens}) with ordinality as input (id, token, position)
  left join lateral (
    select entry.entry_id, entry.claim_token, entry.status
    from ${table} as entry
    where entry.entry_id = input.id
    for update
  ) as current on true
),
extended as (
  update ${table} as entry set visible_at = decided.expires_at
  from decided
  where entry.entry_id = decided.id and decided.outcome = 'applied'
)
select outcome, ${instantToText("expires_at")} from decided order by position`);
}
