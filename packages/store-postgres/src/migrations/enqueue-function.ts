import type { OutboxNames } from "../outbox-names.js";
import { quoteLiteral } from "../quote-identifier.js";

/**
 * `outbox_enqueue(type => ..., payload => ...)`: enqueue from triggers and other languages, in the
 * transaction that calls it. Answers the id of the entry that is there now, new or not.
 *
 * It derives entry ids as `deriveEntryId` of @outbox/core does. Lengths are counted as JavaScript
 * counts them, in UTF-16 code units, or the two would disagree about when an id becomes a hash.
 */
export function enqueueFunctionSql(names: OutboxNames): string {
  const { quoted, channel } = names;
  return `create function ${quoted.enqueueFunction}(
  type text,
  payload json default null,
  payload_binary bytea default null,
  envelope_id text default null,
  entry_id text default null,
  destination text default 'default',
  source text default '/outbox',
  subject text default null,
  occurred_at timestamptz default null,
  data_content_type text default null,
  data_schema text default null,
  traceparent text default null,
  metadata json default '{}',
  available_at timestamptz default null,
  available_in interval default null,
  notify boolean default true
) returns text
language plpgsql
-- Nothing that a caller's search path could put before the built-in functions and operators.
set search_path = pg_catalog, pg_temp
as $outbox$
#variable_conflict use_variable
declare
  astral constant text := '[\\U00010000-\\U0010ffff]';
  now_at constant timestamptz := clock_timestamp();
  due_at timestamptz;
  derived text;
  existing text;
  checked record;
begin
  envelope_id := coalesce(envelope_id, gen_random_uuid()::text);
  for checked in
    select * from (values
      ('type', type), ('envelope_id', envelope_id), ('destination', destination),
      ('source', source), ('entry_id', coalesce(entry_id, '-'))
    ) as argument (name, value)
  loop
    if checked.value is null or checked.value = '' then
      raise exception 'outbox: % must be given', checked.name using errcode = '22023';
    end if;
    if char_length(regexp_replace(checked.value, astral, 'xx', 'g')) > 255 then
      raise exception 'outbox: % must have at most 255 characters', checked.name using errcode = '22023';
    end if;
  end loop;
  if payload is not null and payload_binary is not null then
    raise exception 'outbox: give payload or payload_binary, not both' using errcode = '22023';
  end if;
  if available_at is not null and available_in is not null then
    raise exception 'outbox: give available_at or available_in, not both' using errcode = '22023';
  end if;
  if payload_binary is null then
    payload := coalesce(payload, 'null'::json);
  end if;

  if entry_id is null then
    derived := replace(replace(envelope_id, '%', '%25'), '@', '%40');
    if destination <> 'default' then
      derived := derived || '@' || replace(replace(destination, '%', '%25'), '@', '%40');
    end if;
    if char_length(regexp_replace(derived, astral, 'xx', 'g')) > 255 then
      derived := 'sha256-' || encode(sha256(convert_to(derived, 'UTF8')), 'hex');
    end if;
  else
    derived := entry_id;
  end if;

  available_at := coalesce(available_at, now_at + available_in);
  due_at := greatest(available_at, now_at);

  loop
    insert into ${quoted.table} as entry (
      entry_id, envelope_id, destination, type, source, subject, occurred_at, data_content_type,
      data_schema, traceparent, payload, payload_binary, payload_bytes, metadata, available_at,
      created_at, updated_at, visible_at
    ) values (
      derived, envelope_id, destination, type, source, subject,
      date_trunc('milliseconds', coalesce(occurred_at, now_at)),
      coalesce(
        data_content_type,
        case when payload_binary is null then 'application/json' else 'application/octet-stream' end
      ),
      data_schema, traceparent, payload, payload_binary,
      coalesce(octet_length(payload_binary), octet_length(convert_to(payload::text, 'UTF8'))),
      coalesce(metadata, '{}'::json), available_at, now_at, now_at, due_at
    )
    on conflict do nothing;
    if found then
      if notify and due_at <= now_at then
        perform pg_notify(${quoteLiteral(channel)}, '');
      end if;
      return derived;
    end if;

    select entry.entry_id into existing from ${quoted.table} as entry
      where entry.envelope_id = envelope_id and entry.destination = destination;
    if existing is not null then
      return existing;
    end if;
    perform from ${quoted.table} as entry where entry.entry_id = derived;
    if found then
      raise exception 'outbox: entry_id % belongs to an entry with another envelope_id or destination', derived
        using errcode = '23505';
    end if;
    -- What was in the way has been deleted since.
  end loop;
end
$outbox$;`;
}
