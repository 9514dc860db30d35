import type { ClaimCommand } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { isLeasedOrSuspect, isReady, isWanted, opaque } from "./eligibility.js";
import { columnsBeginningWith, entryColumns, rawEntryColumns } from "./entry-columns.js";
import { instantFromMicroseconds, instantToText } from "./instant.js";
import { Parameters, type Statement } from "./statement.js";

/** A place in due order: due time in microseconds since 1970, and sequence. */
export interface DuePlace {
  readonly microseconds: string;
  readonly sequence: string;
}

/**
 * Columns of the result. One row is the summary: its sequence is NULL, and its column `summary` a
 * JSON array as of `claimSummary`. Each other row is an entry, in no order: joining the claimed
 * rows with their old due times in SQL would be a nested loop over n times n whenever the planner
 * guesses low, and it does for an array. Those that `order` does not name were found again by their
 * claim id.
 */
export const claimResult = { sequence: 0, entry: 1, summary: 1 } as const;

/** `order` is `due time:sequence`, comma separated, of what was newly leased. */
export const claimSummary = {
  now: 0,
  /** How many rows were locked: more than were leased if the byte bound cut some off. */
  candidateCount: 1,
  suspectsDue: 2,
  contended: 3,
  order: 4,
} as const;

/**
 * Leases what is due: one statement, so one round trip, and atomic without a transaction of ours.
 *
 * Expected plan: each pick is an ordered scan of its partial index with `visible_at <= $0` as index
 * condition, below LockRows and Limit, without a Sort and without a Seq Scan; `claimed` is an index
 * scan of the primary key. An empty claim reads a handful of buffers, whatever is delayed or leased.
 */
export function claimStatement(
  { quoted: { table } }: OutboxNames,
  command: ClaimCommand,
  after: DuePlace | null,
): Statement {
  const parameters = new Parameters();
  const parts = { table, parameters, command, ...conditions(parameters, command, after) };
  const ctes = [
    "clock as materialized (select clock_timestamp() as now)",
    ...carried(parts),
    ...candidates(parts),
    picked(parts),
    claimed(parts),
  ];
  const rows = [`select claimed.seq::text, ${entryColumns("claimed")} from claimed`];
  if (command.claimId !== null) {
    rows.push(`select entry.seq::text, ${entryColumns("entry")}
from ${table} as entry where entry.entry_id = any (array(select entry_id from carried))`);
  }
  return parameters.statement(`with ${ctes.join(",\n")}
select null::text, ${columnsBeginningWith(`json_build_array(
  ${instantToText(now)},
  (select count(*) from candidates),
  ${suspectsDue(parts)},
  ${contended(parts)},
  (
    select string_agg(${instantToText("visible_at")} || ':' || seq, ',' order by visible_at, seq)
    from picked
  )
)::text`)}
union all
${rows.join("\nunion all\n")}`);
}

interface Parts {
  readonly table: string;
  readonly parameters: Parameters;
  readonly command: ClaimCommand;
  readonly ready: string;
  readonly suspect: string;
  /** The same from the beginning of due order. */
  readonly suspectAnywhere: string;
}

// A scalar subquery is evaluated once, so that it can be an index condition. A bare
// clock_timestamp() is volatile and would be compared row by row, through all that is delayed.
const now = "(select now from clock)";

function conditions(
  parameters: Parameters,
  command: ClaimCommand,
  after: DuePlace | null,
): Pick<Parts, "ready" | "suspect" | "suspectAnywhere"> {
  const wanted = isWanted("entry", parameters, command);
  const due = `entry.visible_at <= ${now}`;
  const place =
    after === null
      ? ""
      : ` and (entry.visible_at, entry.seq) > (${instantFromMicroseconds(
          parameters.add(after.microseconds, "bigint"),
        )}, ${parameters.add(after.sequence, "bigint")})`;
  return {
    ready: `${isReady("entry")} and ${due}${place}${wanted}`,
    suspect: `${isLeasedOrSuspect("entry")} and ${due}${place}${wanted}`,
    suspectAnywhere: `${isLeasedOrSuspect("entry")} and ${due}${wanted}`,
  };
}

/** The live leases of an earlier claim with the same id, whose reply was lost. */
function carried({ table, parameters, command }: Parts): readonly string[] {
  if (command.claimId === null) return [];
  return [
    // By itself, so that no other index than that of claim ids can look better.
    `same_claim as materialized (
  select entry.entry_id, entry.seq, entry.claim_token, entry.visible_at
  from ${table} as entry
  where entry.claim_id = ${parameters.add(command.claimId, "text")}
)`,
    `carried as materialized (
  select entry_id from same_claim
  where claim_token is not null and visible_at > ${now}
  order by seq
  limit ${parameters.add(command.maxCount, "bigint")}
)`,
  ];
}

/** What may be leased, locked; CTEs of which the last is named `candidates`. */
function candidates({ table, parameters, command, ready, suspect }: Parts): readonly string[] {
  // MATERIALIZED: evaluated once, whatever the planner thinks. Inlined below an `in (...)`, a LIMIT
  // with FOR UPDATE SKIP LOCKED ran again for each outer row and claimed far beyond its limit.
  // SKIP LOCKED never waits, and judges every condition again on the version that it locked.
  const pick = (name: string, condition: string, limit: string) => `${name} as materialized (
  select entry.entry_id, entry.visible_at, entry.seq, entry.payload_bytes
  from ${table} as entry
  where ${condition}
  order by entry.visible_at, entry.seq
  limit ${limit}
  for update skip locked
)`;
  const isReplay = command.claimId !== null;
  const remaining = () => {
    const maxCount = parameters.add(command.maxCount, "bigint");
    return isReplay
      ? `(select greatest(0, ${maxCount} - (select count(*) from carried)))`
      : maxCount;
  };
  switch (command.suspects) {
    case "exclude":
      return [pick("candidates", ready, remaining())];
    case "include": {
      const limit = remaining();
      // Two ordered scans, merged: in one index, a stalled worker's leases would lie in between.
      // Rows beyond the limit stay locked until the statement ends, and are never stamped.
      return [
        pick("ready", ready, limit),
        pick("suspect", suspect, limit),
        `candidates as materialized (
  select * from ready union all select * from suspect
  order by visible_at, seq
  limit ${limit}
)`,
      ];
    }
    case "only": {
      // A group or a single suspect is all of a claim: a replayed one is not filled up.
      const group = parameters.add(Math.ceil(Math.sqrt(command.maxCount)), "bigint");
      const isTaken = isReplay
        ? "exists (select from carried) or exists (select from first_time)"
        : "exists (select from first_time)";
      return [
        pick(
          "first_time",
          `${suspect} and ${opaque("entry.abandoned_claim_count = 0")}`,
          isReplay
            ? `(select case when exists (select from carried) then 0 else ${group} end)`
            : group,
        ),
        pick(
          "repeated",
          `${suspect} and ${opaque("entry.abandoned_claim_count > 0")}`,
          `(select case when ${isTaken} then 0 else 1 end)`,
        ),
        `candidates as materialized (select * from first_time union all select * from repeated)`,
      ];
    }
  }
}

/** Of the candidates, the longest prefix within the byte bound; the first always. */
function picked({ parameters, command: { maxBytes } }: Parts): string {
  if (maxBytes === null) return "picked as materialized (select * from candidates)";
  return `picked as materialized (
  select * from (
    select candidates.*,
      sum(payload_bytes) over due_order as bytes, row_number() over due_order as position
    from candidates
    window due_order as (order by visible_at, seq rows unbounded preceding)
  ) as measured
  where bytes <= ${parameters.add(maxBytes, "bigint")} or position = 1
)`;
}

function claimed({ table, parameters, command }: Parts): string {
  return `claimed as (
  update ${table} as entry set
    claim_owner = ${parameters.add(command.workerId, "text")},
    claim_token = ${parameters.add(command.tokenPrefix, "text")} || ':' || entry.seq,
    claim_id = ${parameters.add(command.claimId, "text")},
    claimed_at = ${now},
    visible_at = ${now}
      + ${parameters.add(command.leaseDurationMs, "float8")} * interval '1 millisecond',
    claim_attempt_count = entry.claim_attempt_count + 1,
    -- The token of a due entry is that of an expired lease.
    abandoned_claim_count = entry.abandoned_claim_count + (entry.claim_token is not null)::integer,
    solo_abandoned_count = entry.solo_abandoned_count
      + (entry.claim_token is not null and entry.solo_claim)::integer,
    solo_claim = ${command.suspects === "only" ? "exists (select from repeated)" : "false"}
  -- An array, not a join: with a generic plan the join was planned as a sequential scan.
  where entry.entry_id = any (array(select entry_id from picked))
  returning entry.seq, ${rawEntryColumns("entry")}
)`;
}

/** Whether suspects are due that this request left out. */
function suspectsDue({ table, command, suspectAnywhere }: Parts): string {
  switch (command.suspects) {
    case "include":
      return "false";
    case "exclude":
      return isAny(table, suspectAnywhere);
    case "only":
      return isAny(
        table,
        `${suspectAnywhere} and entry.entry_id <> all (array(select entry_id from picked))`,
      );
  }
}

/** Whether candidates were seen and all of them were someone else's. Looked up only then. */
function contended({ table, command, ready, suspect }: Parts): string {
  const seen = { include: [ready, suspect], exclude: [ready], only: [suspect] }[command.suspects];
  const isEmpty =
    command.claimId === null
      ? "exists (select from candidates)"
      : "exists (select from candidates) or exists (select from carried)";
  return `case when ${isEmpty} then false else ${seen.map((condition) => isAny(table, condition)).join(" or ")} end`;
}

/** Not EXISTS, from which the order is taken away and which then reads the whole table. */
function isAny(table: string, condition: string): string {
  return `(
    select true from ${table} as entry
    where ${condition}
    order by entry.visible_at, entry.seq
    limit 1
  ) is not null`;
}
