import type { RawChanges, RawEntry, RawProbes } from "@outbox/store-conformance";
import type { OutboxNames } from "../outbox-names.js";

/** Runs a statement past the store; rows by column name, `pg`'s or PGlite's default types. */
export type RawQuery = (
  text: string,
  values?: unknown[],
) => Promise<readonly Record<string, unknown>[]>;

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const leaseEnd = "case when claim_token is not null then visible_at end";

const columns = {
  entryId: "entry_id",
  envelopeId: "envelope_id",
  destination: "destination",
  type: "type",
  orderingKey: "ordering_key",
  metadata: "metadata::text",
  payloadText: "payload::text",
  payloadHex: "encode(payload_binary, 'hex')",
  payloadBytes: "payload_bytes::float8",
  status: "status",
  createdAt: ms("created_at"),
  updatedAt: ms("updated_at"),
  availableAt: ms("available_at"),
  nextRetryAt: ms("next_retry_at"),
  deliveredAt: ms("delivered_at"),
  dueAt: ms("visible_at"),
  claimOwner: "claim_owner",
  claimToken: "claim_token",
  claimedAt: ms("claimed_at"),
  claimExpiresAt: ms(leaseEnd),
  claimAttemptCount: "claim_attempt_count",
  retryCount: "retry_count",
  failures: "failures::text",
  deadLetterReason: "dead_letter_reason",
  abandonedClaimCount: "abandoned_claim_count",
  soloClaim: "solo_claim",
  soloAbandonedCount: "solo_abandoned_count",
  resolvedClaimToken: "resolved_claim_token",
  resolvedTransition: "resolved_transition",
};

const selected = Object.entries(columns)
  .map(([name, expression]) => `${expression} as "${name}"`)
  .join(", ");

/** Reads and writes the table past the store. */
export function postgresRawProbes(
  { quoted: { table } }: OutboxNames,
  query: RawQuery,
): Required<RawProbes> {
  return {
    async readEntry(entryId) {
      const [row] = await query(`select ${selected} from ${table} where entry_id = $1`, [entryId]);
      return row === undefined ? null : toRawEntry(row);
    },
    async readEntries() {
      return (await query(`select ${selected} from ${table} order by seq`)).map(toRawEntry);
    },
    async now() {
      const [row] = await query(`select ${ms("clock_timestamp()")} as now`);
      return Number(row?.["now"]);
    },
    async writeEntry(entryId, changes) {
      const values: unknown[] = [entryId];
      const given = (name: keyof RawChanges, column: string, isInstant: boolean) => {
        if (!(name in changes)) return column;
        values.push(changes[name]);
        return isInstant
          ? `('epoch'::timestamptz + $${values.length}::float8 * interval '1 millisecond')`
          : `$${values.length}`;
      };
      const next = {
        status: given("status", "status", false),
        updated_at: given("updatedAt", "updated_at", true),
        available_at: given("availableAt", "available_at", true),
        next_retry_at: given("nextRetryAt", "next_retry_at", true),
        delivered_at: given("deliveredAt", "delivered_at", true),
        claim_owner: given("claimOwner", "claim_owner", false),
        claim_token: given("claimToken", "claim_token", false),
        claimed_at: given("claimedAt", "claimed_at", true),
        claim_attempt_count: given("claimAttemptCount", "claim_attempt_count", false),
        retry_count: given("retryCount", "retry_count", false),
        dead_letter_reason: given("deadLetterReason", "dead_letter_reason", false),
        abandoned_claim_count: given("abandonedClaimCount", "abandoned_claim_count", false),
        solo_claim: given("soloClaim", "solo_claim", false),
        solo_abandoned_count: given("soloAbandonedCount", "solo_abandoned_count", false),
        resolved_claim_token: given("resolvedClaimToken", "resolved_claim_token", false),
        resolved_transition: given("resolvedTransition", "resolved_transition", false),
      };
      const expires = given("claimExpiresAt", leaseEnd, true);
      // Two steps, so that the due column can be computed of the values after the first.
      await query(
        `with next as (
  select entry_id as id, created_at, ${Object.entries(next)
    .map(([column, value]) => `${value}${casts[column] ?? ""} as ${column}`)
    .join(", ")}, ${expires} as expires_at
  from ${table} where entry_id = $1
)
update ${table} as entry set
  ${Object.keys(next)
    .map((column) => `${column} = next.${column}`)
    .join(", ")},
  visible_at = case
    when next.claim_token is not null then next.expires_at
    when next.status = 'pending' then greatest(next.available_at, next.created_at)
    when next.status in ('deferred', 'retryable-failure')
      then coalesce(next.next_retry_at, next.updated_at)
  end
from next where entry.entry_id = next.id`,
        values,
      );
    },
  };
}

const casts: Readonly<Record<string, string>> = {
  status: "::text",
  claim_owner: "::text",
  claim_token: "::text",
  claim_attempt_count: "::integer",
  retry_count: "::integer",
  dead_letter_reason: "::text",
  abandoned_claim_count: "::integer",
  solo_claim: "::boolean",
  solo_abandoned_count: "::integer",
  resolved_claim_token: "::text",
  resolved_transition: "::text",
};

/** Moves every stored instant of the outbox back, triggers off, in one statement. */
export async function shiftInstants(
  { quoted: { table } }: OutboxNames,
  query: RawQuery,
  byMs: number,
): Promise<void> {
  const instants = [
    "visible_at",
    "created_at",
    "updated_at",
    "available_at",
    "next_retry_at",
    "delivered_at",
    "redriven_at",
    "claimed_at",
  ];
  await query(
    `update ${table} set ${instants
      .map((column) => `${column} = ${column} - $1::float8 * interval '1 millisecond'`)
      .join(", ")}`,
    [byMs],
  );
}

function toRawEntry(row: Record<string, unknown>): RawEntry {
  const { payloadText, payloadHex, metadata, failures, ...rest } = row;
  return {
    ...(rest as unknown as RawEntry),
    metadata: JSON.parse(String(metadata)),
    payload:
      typeof payloadHex === "string"
        ? Uint8Array.from(Buffer.from(payloadHex, "hex"))
        : String(payloadText),
    failures: (JSON.parse(String(failures)) as { code: string; message: string }[]).map(
      ({ code, message }) => ({ code, message }),
    ),
  };
}
