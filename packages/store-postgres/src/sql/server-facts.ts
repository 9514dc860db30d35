import type { OutboxNames } from "../outbox-names.js";
import { quoteLiteral } from "../quote-identifier.js";
import { instantToText } from "./instant.js";
import type { Statement } from "./statement.js";

/** What `diagnose` wants to know; one JSON text. */
export interface ServerFacts {
  /** By the server's clock, in microseconds since 1970. */
  readonly now: string;
  readonly versionNumber: number;
  readonly encoding: string;
  readonly isStandby: boolean;
  readonly defaultIsolation: string;
  readonly synchronousCommit: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly autovacuum: string;
  readonly trackCounts: string;
  readonly notifyQueueUsage: number;
  readonly user: string;
  /** Age of the oldest transaction that is open in this database, as far as this role may see. */
  readonly oldestTransactionSeconds: number | null;
  readonly table: null | {
    readonly autovacuumEnabled: string | null;
    readonly liveRows: number;
    readonly deadRows: number;
    readonly canSelect: boolean;
    readonly canInsert: boolean;
    readonly canUpdate: boolean;
    readonly canDelete: boolean;
  };
}

export function serverFactsStatement({ quoted: { table } }: OutboxNames): Statement {
  const privilege = (name: string) => `has_table_privilege(class.oid, '${name}')`;
  return {
    text: `select json_build_object(
  'now', ${instantToText("clock_timestamp()")},
  'versionNumber', current_setting('server_version_num')::integer,
  'encoding', current_setting('server_encoding'),
  'isStandby', pg_is_in_recovery(),
  'defaultIsolation', current_setting('default_transaction_isolation'),
  'synchronousCommit', current_setting('synchronous_commit'),
  'fsync', current_setting('fsync'),
  'fullPageWrites', current_setting('full_page_writes'),
  'autovacuum', current_setting('autovacuum'),
  'trackCounts', current_setting('track_counts'),
  'notifyQueueUsage', pg_notification_queue_usage(),
  'user', current_user,
  'oldestTransactionSeconds', (
    select extract(epoch from max(clock_timestamp() - xact_start)) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
  ),
  'table', (
    select json_build_object(
      'autovacuumEnabled', (
        select option_value from pg_options_to_table(class.reloptions)
        where option_name = 'autovacuum_enabled'
      ),
      'liveRows', pg_stat_get_live_tuples(class.oid),
      'deadRows', pg_stat_get_dead_tuples(class.oid),
      'canSelect', ${privilege("select")},
      'canInsert', ${privilege("insert")},
      'canUpdate', ${privilege("update")},
      'canDelete', ${privilege("delete")}
    )
    from pg_class as class where class.oid = to_regclass(${quoteLiteral(table)})
  )
)::text`,
    values: [],
  };
}
