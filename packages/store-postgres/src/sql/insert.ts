import type { NewEntry } from "@outbox/core";
import type { OutboxNames } from "../outbox-names.js";
import { quoteLiteral } from "../quote-identifier.js";
import { instantFromMilliseconds } from "./instant.js";
import type { Statement } from "./statement.js";

/**
 * How the statement itself makes sure that it runs inside a transaction of the caller's.
 *
 * - `none`: it is known, or not wanted
 * - `written`: this transaction has an id already, so it wrote something in an earlier statement
 * - a text: an earlier statement left this text in the transaction-local setting `outbox.proof`
 */
export type TransactionProof = "none" | "written" | { readonly text: string };

/** Columns of the result: single lower-case words, because some transaction handles rename others. */
export const insertColumns = ["proven", "envelope", "destination"] as const;

/**
 * Writes all entries that are not there yet. One row per written entry, with its pair, and one row
 * in any case; `proven` is "false" if nothing was written for want of a transaction.
 *
 * The one value is a text: whatever carries the statement into the transaction (an ORM, another
 * client) has no types to get wrong.
 */
export function insertStatement(
  { quoted: { table }, channel }: OutboxNames,
  entries: readonly NewEntry[],
  { proof, notify }: { readonly proof: TransactionProof; readonly notify: boolean },
): Statement {
  const now = "(select now from clock)";
  const values = [JSON.stringify(entries.map(toRecord))];
  if (typeof proof === "object") values.push(proof.text);
  const text = `with clock as materialized (select clock_timestamp() as now),
-- Read before the first row is written, which would give the transaction its id.
proof as materialized (select ${proven(proof)} as proven),
input as materialized (
  select record.*, coalesce(
    ${now} + record."inMs" * interval '1 millisecond', ${instantFromMilliseconds('record."atMs"')}
  ) as available_at
  from json_to_recordset($1::text::json) as record (
    id text, envelope text, destination text, type text, source text, subject text, "timeMs" float8,
    "contentType" text, schema text, traceparent text, json text, base64 text, bytes bigint,
    metadata text, key text, "inMs" float8, "atMs" float8
  )
),
-- In the order given, so that sequence numbers follow it. No conflict target: neither the pair nor
-- the id may abort the caller's transaction.
inserted as (
  insert into ${table} (
    entry_id, envelope_id, destination, type, source, subject, occurred_at, data_content_type,
    data_schema, traceparent, payload, payload_binary, payload_bytes, metadata, ordering_key,
    available_at, created_at, updated_at, visible_at
  )
  select
    id, envelope, destination, type, source, subject, ${instantFromMilliseconds('"timeMs"')},
    "contentType", schema, traceparent, json::json, decode(base64, 'base64'), bytes,
    metadata::json, key, available_at, ${now}, ${now}, greatest(available_at, ${now})
  from input
  where (select proven from proof)
  on conflict do nothing
  returning envelope_id, destination, visible_at
)
select proof.proven::text as proven, inserted.envelope_id as envelope,
  inserted.destination as destination${
    notify
      ? `,
  (
    select pg_notify(${quoteLiteral(channel)}, '')::text from inserted
    where visible_at <= ${now} limit 1
  ) as notified`
      : ""
  }
from proof left join inserted on true`;
  return { text, values };
}

/**
 * Writes one entry if it is not there yet: the same as `insertStatement`, without notification, at
 * the price of an ordinary INSERT. Most of what the other costs one entry is its planning. No row
 * comes back if the entry is there already, or if nothing proved the transaction.
 */
export function insertOneStatement(
  { quoted: { table } }: OutboxNames,
  entry: NewEntry,
  proof: "none" | "written",
): Statement {
  const { envelope, payload, available } = entry;
  // One instant for the whole statement, as `clock` elsewhere, without a subquery to plan.
  const now = "statement_timestamp()";
  const values: string[] = [];
  const text = (value: string) => `$${values.push(value)}::text`;
  const instant = (ms: number) => instantFromMilliseconds(`${text(String(ms))}::float8`);
  const due =
    available === null
      ? null
      : "inMs" in available
        ? `${now} + ${text(String(available.inMs))}::float8 * interval '1 millisecond'`
        : instant(available.at.getTime());
  // Columns that would be NULL are left out: there is nothing to parse then.
  const columns: readonly (readonly [name: string, value: string | null])[] = [
    ["entry_id", text(entry.entryId)],
    ["envelope_id", text(envelope.envelopeId)],
    ["destination", text(entry.destination)],
    ["type", text(envelope.type)],
    ["source", text(envelope.source)],
    ["subject", envelope.subject === null ? null : text(envelope.subject)],
    ["occurred_at", instant(envelope.time.getTime())],
    ["data_content_type", text(envelope.dataContentType)],
    ["data_schema", envelope.dataSchema === null ? null : text(envelope.dataSchema)],
    ["traceparent", envelope.traceparent === null ? null : text(envelope.traceparent)],
    ["payload", payload.format === "json" ? `${text(payload.text)}::json` : null],
    [
      "payload_binary",
      payload.format === "bytes" ? `decode(${text(toBase64(payload.bytes))}, 'base64')` : null,
    ],
    ["payload_bytes", `${text(String(payload.byteLength))}::bigint`],
    [
      "metadata",
      Object.keys(entry.metadata).length === 0
        ? null
        : `${text(JSON.stringify(entry.metadata))}::json`,
    ],
    ["ordering_key", entry.orderingKey === null ? null : text(entry.orderingKey)],
    ["available_at", due],
    ["created_at", now],
    ["updated_at", now],
    ["visible_at", due === null ? now : `greatest(${due}, ${now})`],
  ];
  const given = columns.filter(([, value]) => value !== null);
  const row = given.map(([, value]) => value).join(", ");
  return {
    text: `insert into ${table} (${given.map(([name]) => name).join(", ")})
${proof === "none" ? `values (${row})` : `select ${row} where ${proven(proof)}`}
on conflict do nothing
returning 'true' as proven, envelope_id as envelope, destination as destination`,
    values,
  };
}

/** Leaves a text where only later statements of the same transaction find it. */
export function leaveProofStatement(proof: string): Statement {
  return {
    text: "select set_config('outbox.proof', $1::text, true) as proof",
    values: [proof],
  };
}

/** Columns of the result of `existingStatement`. */
export const existingColumns = ["envelope", "destination", "id"] as const;

/**
 * Entries that have one of the pairs or one of the ids. Expected plan: nested loops over index
 * scans of both unique indexes.
 */
export function existingStatement(
  { quoted: { table } }: OutboxNames,
  entries: readonly NewEntry[],
): Statement {
  const pairs = entries.map(({ entryId, envelope: { envelopeId }, destination }) => ({
    id: entryId,
    envelope: envelopeId,
    destination,
  }));
  return {
    text: `with wanted as materialized (
  select * from json_to_recordset($1::text::json) as record (id text, envelope text, destination text)
)
select entry.envelope_id as envelope, entry.destination as destination, entry.entry_id as id
from wanted join ${table} as entry
  on entry.envelope_id = wanted.envelope and entry.destination = wanted.destination
union all
select entry.envelope_id, entry.destination, entry.entry_id
from wanted join ${table} as entry on entry.entry_id = wanted.id`,
    values: [JSON.stringify(pairs)],
  };
}

function proven(proof: TransactionProof): string {
  if (proof === "none") return "true";
  if (proof === "written") return "pg_current_xact_id_if_assigned() is not null";
  return "coalesce(current_setting('outbox.proof', true) = $2::text, false)";
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function toRecord(entry: NewEntry): Record<string, string | number | null> {
  const { envelope, payload, available } = entry;
  return {
    id: entry.entryId,
    envelope: envelope.envelopeId,
    destination: entry.destination,
    type: envelope.type,
    source: envelope.source,
    subject: envelope.subject,
    timeMs: envelope.time.getTime(),
    contentType: envelope.dataContentType,
    schema: envelope.dataSchema,
    traceparent: envelope.traceparent,
    json: payload.format === "json" ? payload.text : null,
    base64: payload.format === "bytes" ? toBase64(payload.bytes) : null,
    bytes: payload.byteLength,
    metadata: JSON.stringify(entry.metadata),
    key: entry.orderingKey,
    inMs: available !== null && "inMs" in available ? available.inMs : null,
    atMs: available !== null && "at" in available ? available.at.getTime() : null,
  };
}
