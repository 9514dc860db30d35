import type { OutboxNames } from "../outbox-names.js";
import { quoteLiteral } from "../quote-identifier.js";
import type { Statement } from "./statement.js";

/** Name and type of each column of the table; no rows if it is not there. */
export function columnsStatement({ quoted: { table } }: OutboxNames): Statement {
  return {
    text: `select attname::text, format_type(atttypid, atttypmod)
from pg_catalog.pg_attribute
where attrelid = to_regclass(${quoteLiteral(table)}) and attnum > 0 and not attisdropped`,
    values: [],
  };
}

/** Name of each index of the table, whether it is valid, and its definition. */
export function indexesStatement({ quoted: { table } }: OutboxNames): Statement {
  return {
    text: `select class.relname::text, (index.indisvalid and index.indisready)::text
from pg_catalog.pg_index as index join pg_catalog.pg_class as class on class.oid = index.indexrelid
where index.indrelid = to_regclass(${quoteLiteral(table)})`,
    values: [],
  };
}

/** Whether a function of the enqueue function's name is in the schema. */
export function functionStatement({ schema, enqueueFunction }: OutboxNames): Statement {
  return {
    text: `select count(*)::text
from pg_catalog.pg_proc as proc join pg_catalog.pg_namespace as space on space.oid = proc.pronamespace
where space.nspname = $1::text and proc.proname = $2::text`,
    values: [schema, enqueueFunction],
  };
}
