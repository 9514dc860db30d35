import type { DriverCompletion, TransitionWrite } from "@outbox/core";
import { serializeFailures } from "../row-to-entry.js";
import { instantFromMilliseconds } from "./instant.js";
import type { Parameters } from "./statement.js";

/** One transition to decide on and to write: of a claim, or (without a token) of a saved entry. */
export interface TransitionInput {
  readonly entryId: string;
  readonly claimToken: string | null;
  readonly write: TransitionWrite;
  /** The entry as the write was made from: what is the same object there is left as it is. */
  readonly read: DriverCompletion["claim"]["entry"];
}

/** The CTE `input`: the transitions as rows, in order of `position`. */
export function transitionInput(
  parameters: Parameters,
  inputs: readonly TransitionInput[],
  ids: string,
): string {
  const column = (type: string, value: (input: TransitionInput) => string | number | null) =>
    parameters.addArray(inputs.map(value), type);
  return `input as materialized (
  select * from unnest(
    ${ids},
    ${column("text", ({ claimToken }) => claimToken)},
    ${column("text", ({ write }) => write.kind)},
    ${column("text", ({ write }) => write.status)},
    ${column("integer", ({ write }) => write.retryCount)},
    ${column("text", ({ write, read }) =>
      write.failures === read.failures ? null : serializeFailures(write.failures),
    )},
    ${column("text", ({ write, read }) =>
      write.metadata === read.metadata ? null : JSON.stringify(write.metadata),
    )},
    ${column("float8", ({ write: { due } }) => (due !== null && "inMs" in due ? due.inMs : null))},
    ${column("float8", ({ write: { due } }) =>
      due !== null && "at" in due ? due.at.getTime() : null,
    )},
    ${column("text", ({ write }) => write.deadLetterReason)},
    ${column("text", ({ write }) => write.providerMessageId)}
  ) with ordinality as given (
    entry_id, token, kind, status, retry_count, failures, metadata, due_in_ms, due_at_ms,
    dead_letter_reason, provider_message_id, position
  )
)`;
}

/**
 * The CTE `decided`: `input` with `outcome`, `at` and `due`, judged on the rows of the CTE `locked`.
 * @param outcome - the branches of a CASE after "missing"
 */
export function decidedTransitions(outcome: string): string {
  return `decided as materialized (
  select input.*, timing.at,
    case
      when input.due_in_ms is not null then timing.at + input.due_in_ms * interval '1 millisecond'
      else ${instantFromMilliseconds("input.due_at_ms")}
    end as due,
    case
      when locked.entry_id is null then 'missing'
      ${outcome}
    end as outcome
  from input
  left join locked on locked.entry_id = input.entry_id
  -- By the clock after the lock, and always later than before: updated_at serves as a version.
  cross join lateral (
    select greatest(
      clock_timestamp(),
      case when input.kind <> 'release' then locked.updated_at + interval '1 millisecond' end
    ) as at
  ) as timing
)`;
}

/** The CTEs that write what `decided` calls applied. */
export function writeTransitions(
  table: string,
  inputs: readonly TransitionInput[],
  onDelivered: "keep" | "delete",
): readonly string[] {
  const isDeletion = ({ write }: TransitionInput) =>
    onDelivered === "delete" && write.status === "delivered";
  const deletes = inputs.some(isDeletion);
  const ctes: string[] = [];
  if (!inputs.every(isDeletion)) ctes.push(updated(table, deletes));
  if (deletes) {
    ctes.push(`deleted as (
  delete from ${table} as entry
  where entry.entry_id = any (array(
    select entry_id from decided where outcome = 'applied' and status = 'delivered'
  ))
)`);
  }
  return ctes;
}

function updated(table: string, exceptDelivered: boolean): string {
  const isRelease = "decided.kind = 'release'";
  const waitsForRetry = "decided.status in ('deferred', 'retryable-failure')";
  // A release without a delay leaves the due time to the columns: what it was before the claim.
  const nextRetryAt = `coalesce(decided.due, case when ${isRelease} then entry.next_retry_at end)`;
  const updatedAt = `case when ${isRelease} then entry.updated_at else decided.at end`;
  const availableAt =
    "coalesce(case when decided.status = 'pending' then decided.due end, entry.available_at)";
  return `updated as (
  update ${table} as entry set
    status = decided.status,
    retry_count = decided.retry_count,
    failures = coalesce(decided.failures::json, entry.failures),
    metadata = coalesce(decided.metadata::json, entry.metadata),
    updated_at = ${updatedAt},
    available_at = ${availableAt},
    next_retry_at = case when ${waitsForRetry} then ${nextRetryAt} end,
    delivered_at = case when decided.status = 'delivered' then decided.at end,
    provider_message_id = decided.provider_message_id,
    dead_letter_reason = decided.dead_letter_reason,
    visible_at = case
      when decided.status = 'pending' then greatest(${availableAt}, entry.created_at)
      when ${waitsForRetry} then coalesce(${nextRetryAt}, ${updatedAt})
    end,
    claim_owner = null,
    claim_token = null,
    claim_id = null,
    claimed_at = null,
    abandoned_claim_count = case when ${isRelease} then entry.abandoned_claim_count else 0 end,
    solo_claim = ${isRelease} and entry.solo_claim,
    solo_abandoned_count = case when ${isRelease} then entry.solo_abandoned_count else 0 end,
    resolved_claim_token = decided.token,
    resolved_transition = decided.kind
  from decided
  where entry.entry_id = decided.entry_id
    and decided.outcome = 'applied'${exceptDelivered ? " and decided.status <> 'delivered'" : ""}
    -- The join alone was planned as a sequential scan when the plan was generic.
    and entry.entry_id = any (array(select entry_id from decided where outcome = 'applied'))
)`;
}
