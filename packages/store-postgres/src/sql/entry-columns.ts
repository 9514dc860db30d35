import { instantToText } from "./instant.js";

/**
 * The columns of an entry, in the order in which `rowToEntry` reads them. Everything is cast to
 * text here: an application's type parsers, a binary result format, and session settings such as
 * DateStyle or bytea_output then change nothing.
 */
const columns: readonly (readonly [name: string, toText: (column: string) => string])[] = [
  ["entry_id", asIs],
  ["destination", asIs],
  ["envelope_id", asIs],
  ["type", asIs],
  ["source", asIs],
  ["subject", asIs],
  ["occurred_at", instantToText],
  ["data_content_type", asIs],
  ["data_schema", asIs],
  ["traceparent", asIs],
  ["payload", cast],
  ["payload_binary", (column) => `encode(${column}, 'base64')`],
  ["payload_bytes", cast],
  ["metadata", cast],
  ["ordering_key", asIs],
  ["status", asIs],
  ["created_at", instantToText],
  ["updated_at", instantToText],
  ["available_at", instantToText],
  ["next_retry_at", instantToText],
  ["delivered_at", instantToText],
  ["provider_message_id", asIs],
  ["dead_letter_reason", asIs],
  ["retry_count", cast],
  ["failures", cast],
  ["redriven_at", instantToText],
  ["redriven_by", asIs],
  ["redrive_reason", asIs],
  ["claim_owner", asIs],
  ["claim_token", asIs],
  ["claimed_at", instantToText],
  ["visible_at", instantToText],
  ["claim_attempt_count", cast],
  ["abandoned_claim_count", cast],
  ["solo_claim", cast],
  ["solo_abandoned_count", cast],
  ["resolved_claim_token", asIs],
  ["resolved_transition", asIs],
];

/** The payload's columns, where it is not needed. */
export const payloadColumns: readonly string[] = ["payload", "payload_binary"];

/** The bare columns, for a CTE that `entryColumns` reads, or of a subquery that did. */
export function rawEntryColumns(alias: string, without: readonly string[] = []): string {
  return columns
    .filter(([name]) => !without.includes(name))
    .map(([name]) => `${alias}.${name}`)
    .join(", ");
}

/** The columns of an entry as text; those of `without` as NULL. */
export function entryColumns(alias: string, without: readonly string[] = []): string {
  return columns
    .map(([name, toText]) => `${textOf(alias, name, toText, without)} as ${name}`)
    .join(", ");
}

/** `entryColumns` as one text, a JSON array; for a result that rarely has it. */
export function entryColumnsJson(alias: string, without: readonly string[] = []): string {
  const texts = columns.map(([name, toText]) => textOf(alias, name, toText, without));
  return `json_build_array(${texts.join(", ")})::text`;
}

/** As many columns as `entryColumns`: the given one, and NULLs. */
export function columnsBeginningWith(first: string): string {
  return [first, ...columns.slice(1).map(() => "null")].join(", ");
}

function textOf(
  alias: string,
  name: string,
  toText: (column: string) => string,
  without: readonly string[],
): string {
  return without.includes(name) ? "null" : toText(`${alias}.${name}`);
}

function asIs(column: string): string {
  return column;
}

function cast(column: string): string {
  return `${column}::text`;
}
