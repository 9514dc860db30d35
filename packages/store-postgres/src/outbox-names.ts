import { createHash } from "node:crypto";
import { maxIdentifierBytes, quoteIdentifier } from "./quote-identifier.js";

export interface OutboxNameOptions {
  /**
   * Schema of everything the store owns. It must exist.
   * @defaultValue `"public"`
   */
  readonly schema?: string | undefined;
  /**
   * Name of the table; the names of its indexes, of the migration table and of the SQL function
   * are derived from it. One table is one outbox.
   * @defaultValue `"outbox_entry"`
   */
  readonly table?: string | undefined;
}

/** The names of one outbox: plain ones to compare with the catalogue, quoted ones for SQL. */
export interface OutboxNames {
  readonly schema: string;
  readonly table: string;
  readonly migrationTable: string;
  readonly enqueueFunction: string;
  readonly indexes: {
    readonly primaryKey: string;
    readonly envelope: string;
    readonly ready: string;
    readonly leased: string;
    readonly claimId: string;
    readonly settled: string;
    readonly orderingKey: string;
  };
  /** Channel of NOTIFY. */
  readonly channel: string;
  readonly quoted: {
    readonly schema: string;
    /** With its schema, as are the next two. */
    readonly table: string;
    readonly migrationTable: string;
    readonly enqueueFunction: string;
    /** `schema.index`. */
    index(name: keyof OutboxNames["indexes"]): string;
    /** Without the schema, as CREATE INDEX and constraints want it. */
    bareIndex(name: keyof OutboxNames["indexes"]): string;
  };
}

/**
 * The SQL function of `outbox_entry` is `outbox_enqueue`, that of any other table `t` is
 * `t_enqueue`, so that two outboxes in one schema do not share it.
 */
export function outboxNames(options: OutboxNameOptions = {}): OutboxNames {
  const schema = options.schema ?? "public";
  const table = options.table ?? "outbox_entry";
  const quotedSchema = quoteIdentifier("options.schema", schema);
  const quote = (name: string) => quoteIdentifier("options.table", name);
  quote(table);
  const stem = table.endsWith("_entry") ? table.slice(0, -"_entry".length) : table;
  const migrationTable = `${table}_migration`;
  const enqueueFunction = `${stem}_enqueue`;
  const indexes = {
    primaryKey: `${table}_pkey`,
    envelope: `${table}_envelope`,
    ready: `${table}_ready`,
    leased: `${table}_leased`,
    claimId: `${table}_claim_id`,
    settled: `${table}_settled`,
    orderingKey: `${table}_ordering_key`,
  };
  for (const name of Object.values(indexes)) quote(name);
  return {
    schema,
    table,
    migrationTable,
    enqueueFunction,
    indexes,
    channel: channelName(schema, table),
    quoted: {
      schema: quotedSchema,
      table: `${quotedSchema}.${quote(table)}`,
      migrationTable: `${quotedSchema}.${quote(migrationTable)}`,
      enqueueFunction: `${quotedSchema}.${quote(enqueueFunction)}`,
      index: (name) => `${quotedSchema}.${quote(indexes[name])}`,
      bareIndex: (name) => quote(indexes[name]),
    },
  };
}

/**
 * Readable where the names allow it. A plain identifier in any case: PGlite forgets the quotes of a
 * channel when it stops listening.
 */
function channelName(schema: string, table: string): string {
  const name = `outbox_${schema}__${table}`;
  if (/^[a-z0-9_]+$/.test(name) && name.length <= maxIdentifierBytes) return name;
  return `outbox_${createHash("sha256")
    .update(JSON.stringify([schema, table]))
    .digest("hex")
    .slice(0, 32)}`;
}
