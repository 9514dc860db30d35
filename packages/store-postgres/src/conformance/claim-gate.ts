import { setTimeout as sleep } from "node:timers/promises";
import type { ClaimGate } from "@outbox/store-conformance";
import pg from "pg";
import type { OutboxNames } from "../outbox-names.js";
import type { RawQuery } from "./postgres-raw-probes.js";

/**
 * Holds a claimer by a row trigger that waits for an advisory lock: after its rows were picked and
 * locked, before anything is committed.
 */
export function createClaimGate(
  url: string,
  { quoted: { table, schema }, table: name }: OutboxNames,
  query: RawQuery,
): ClaimGate {
  const gateTable = `${schema}."${name}_gate"`;
  const gateFunction = `${schema}."${name}_gate"`;
  let isBuilt = false;

  async function build(): Promise<void> {
    if (isBuilt) return;
    isBuilt = true;
    await query(`create table ${gateTable} (worker text, key bigint)`);
    await query(`create function ${gateFunction}() returns trigger language plpgsql as $gate$
      begin
        perform pg_advisory_xact_lock_shared(key) from ${gateTable} where worker = new.claim_owner;
        return new;
      end
    $gate$`);
    await query(`create trigger gate before update on ${table} for each row
      when (new.claim_token is not null and new.claim_token is distinct from old.claim_token)
      execute function ${gateFunction}()`);
  }

  return {
    async hold(workerId) {
      await build();
      const key = Math.floor(Math.random() * 2 ** 31);
      const holder = new pg.Client({ connectionString: url });
      holder.on("error", () => {});
      await holder.connect();
      await holder.query("select pg_advisory_lock($1::bigint)", [key]);
      await query(`insert into ${gateTable} values ($1, $2::bigint)`, [workerId, key]);
      let released: Promise<void> | undefined;
      return {
        async reached() {
          for (;;) {
            const [row] = await query(
              "select count(*)::integer as waiting from pg_locks where locktype = 'advisory' and objid = $1::bigint::oid and not granted",
              [key],
            );
            if (Number(row?.["waiting"]) > 0) return;
            await sleep(5);
          }
        },
        release: () => (released ??= holder.end()),
      };
    },
  };
}
