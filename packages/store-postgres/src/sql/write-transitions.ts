import type { DriverCompletion, TransitionWrite } from "@outbox/core";
import { serializeFailures } from "../row-to-entry.js";
import { entryColumnsJson, payloadColumns } from "./entry-columns.js";
import { instantFromMilliseconds, instantToText } from "./instant.js";
import type { Parameters } from "./statement.js";

/** One transition to decide on and to write: of a claim, or (without a token) of a saved entry. */
export interface TransitionInput {
  readonly entryId: string;
  readonly claimToken: string | null;
  readonly write: TransitionWrite;
  /** The entry as the write was made from: what is the same object there is left as it is. */
  readonly read: DriverCompletion["claim"]["entry"];
}

/**
 * The CTE `decided`: the transitions as rows, each with what becomes of it, judged on its entry
 * once that is locked.
 *
 * The lock is a lateral subquery, which the planner cannot turn into anything but one look-up by
 * primary key after the other: a join was planned as a nested loop over n times n where it guessed
 * low. In order of `inputs`, so that batches with the same order cannot wait for each other. What
 * is read under the lock was read again after waiting for it (READ COMMITTED), so what it decides
 * stays true.
 *
 * @param outcome - the branches of a CASE after "missing"
 */
export function decideTransitions(
  table: string,
  parameters: Parameters,
  inputs: readonly TransitionInput[],
  outcome: string,
): string {
  const columns = new InputColumns(parameters, inputs);
  columns.add("id", "text", ({ entryId }) => entryId);
  columns.add("token", "text", ({ claimToken }) => claimToken);
  columns.add("kind", "text", ({ write }) => write.kind);
  columns.add("new_status", "text", ({ write }) => write.status);
  columns.add("new_retry_count", "integer", ({ write }) => write.retryCount);
  columns.add("new_failures", "text", ({ write, read }) =>
    write.failures === read.failures ? null : serializeFailures(write.failures),
  );
  columns.add("new_metadata", "text", ({ write, read }) =>
    write.metadata === read.metadata ? null : JSON.stringify(write.metadata),
  );
  columns.add("due_in_ms", "float8", ({ write: { due } }) =>
    due !== null && "inMs" in due ? due.inMs : null,
  );
  columns.add("due_at_ms", "float8", ({ write: { due } }) =>
    due !== null && "at" in due ? due.at.getTime() : null,
  );
  columns.add("new_reason", "text", ({ write }) => write.deadLetterReason);
  columns.add("new_message_id", "text", ({ write }) => write.providerMessageId);
  return `decided as materialized (
  select input.*, timing.at, current.state,
    case
      when due_in_ms is not null then timing.at + due_in_ms * interval '1 millisecond'
      else ${instantFromMilliseconds("due_at_ms")}
    end as due,
    case
      when entry_id is null then 'missing'
      ${outcome}
    end as outcome
  from (
    select ${columns.selected}, position
    from unnest(${columns.arrays}) with ordinality as given (${columns.names}, position)
  ) as input
  left join lateral (
    select entry.entry_id, entry.claim_token, entry.claim_attempt_count, entry.visible_at,
      entry.status, entry.updated_at, entry.resolved_claim_token, entry.resolved_transition,
      -- Where the entry will be written, its caller knows how it stands.
      case when entry.claim_token is distinct from input.token or input.token is null
        then ${entryColumnsJson("entry", payloadColumns)} end as state
    from ${table} as entry
    where entry.entry_id = input.id
    for update
  ) as current on true
  -- By the clock after the lock, and always later than before: updated_at serves as a version.
  cross join lateral (
    select greatest(
      clock_timestamp(), case when kind <> 'release' then updated_at + interval '1 millisecond' end
    ) as at
  ) as timing
)`;
}

/** What both statements return of `decided`; its columns are `transitionResult`. */
export const decidedColumns = `outcome, ${instantToText("at")},
  case when outcome <> 'applied' then state end`;

/**
 * `state` is the entry as it stands, without payload, as a JSON array of `entryColumns`; only where
 * nothing was applied.
 */
export const transitionResult = { outcome: 0, at: 1, state: 2 } as const;

/** Columns of the inputs: an array each, or one value where all have the same. */
class InputColumns {
  readonly #parameters: Parameters;
  readonly #inputs: readonly TransitionInput[];
  readonly #selected: string[] = [];
  readonly #arrays: string[] = [];
  readonly #names: string[] = [];

  constructor(parameters: Parameters, inputs: readonly TransitionInput[]) {
    this.#parameters = parameters;
    this.#inputs = inputs;
  }

  add(name: string, type: string, value: (input: TransitionInput) => string | number | null): void {
    const values = this.#inputs.map(value);
    const [first = null] = values;
    // Ids are always an array: it makes the rows.
    if (name !== "id" && values.every((one) => one === first)) {
      this.#selected.push(`${this.#parameters.add(first, type)} as ${name}`);
      return;
    }
    this.#selected.push(name);
    this.#arrays.push(this.#parameters.addArray(values, type));
    this.#names.push(name);
  }

  get selected(): string {
    return this.#selected.join(", ");
  }

  get arrays(): string {
    return this.#arrays.join(", ");
  }

  get names(): string {
    return this.#names.join(", ");
  }
}

/**
 * The CTEs that write what `decided` calls applied. Expected plan: a nested loop of `decided` and
 * an index scan of the primary key.
 */
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
    select id from decided where outcome = 'applied' and new_status = 'delivered'
  ))
)`);
  }
  return ctes;
}

function updated(table: string, exceptDelivered: boolean): string {
  const isRelease = "decided.kind = 'release'";
  const waitsForRetry = "decided.new_status in ('deferred', 'retryable-failure')";
  // A release without a delay leaves the due time to the columns: what it was before the claim.
  const nextRetryAt = `coalesce(decided.due, case when ${isRelease} then entry.next_retry_at end)`;
  const updatedAt = `case when ${isRelease} then entry.updated_at else decided.at end`;
  const availableAt =
    "coalesce(case when decided.new_status = 'pending' then decided.due end, entry.available_at)";
  return `updated as (
  update ${table} as entry set
    status = decided.new_status,
    retry_count = decided.new_retry_count,
    failures = coalesce(decided.new_failures::json, entry.failures),
    metadata = coalesce(decided.new_metadata::json, entry.metadata),
    updated_at = ${updatedAt},
    available_at = ${availableAt},
    next_retry_at = case when ${waitsForRetry} then ${nextRetryAt} end,
    delivered_at = case when decided.new_status = 'delivered' then decided.at end,
    provider_message_id = decided.new_message_id,
    dead_letter_reason = decided.new_reason,
    visible_at = case
      when decided.new_status = 'pending' then greatest(${availableAt}, entry.created_at)
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
  where entry.entry_id = decided.id
    and decided.outcome = 'applied'${exceptDelivered ? " and decided.new_status <> 'delivered'" : ""}
)`;
}
