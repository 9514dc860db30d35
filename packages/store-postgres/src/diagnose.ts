import type { Finding } from "@outbox/core";
import { checkSchema } from "./check-schema.js";
import { microsecondsToDate } from "./sql/instant.js";
import { type ServerFacts, serverFactsStatement } from "./sql/server-facts.js";
import type { StoreContext } from "./store-context.js";

/** Skew of the clocks that is worth a word, in ms; nothing depends on it but what people read. */
const notableSkewMs = 2_000;
/** Share of the notification queue that is worth a word. */
const notableQueueUsage = 0.25;
/** Age of a transaction that keeps dead entries from being cleaned up, in seconds. */
const notableTransactionSeconds = 15 * 60;
const notableDeadRows = 100_000;

/** Looks for what is known to go wrong, each with its remedy. */
export async function diagnose(context: StoreContext): Promise<readonly Finding[]> {
  const { connections, names } = context;
  const startedAt = Date.now();
  const [row] = await connections.query(serverFactsStatement(names), { isLong: true });
  const endedAt = Date.now();
  const facts = JSON.parse(row?.[0] ?? "{}") as ServerFacts;
  const schema = await checkSchema(context);
  return [
    ...serverFindings(facts),
    ...schema.problems.map((problem) => schemaFinding(problem)),
    ...clockFindings(facts, startedAt, endedAt),
    ...durabilityFindings(facts),
    ...cleanUpFindings(facts),
    ...permissionFindings(facts, `${names.schema}.${names.table}`),
  ];
}

function serverFindings(facts: ServerFacts): readonly Finding[] {
  const findings: Finding[] = [];
  if (facts.versionNumber < 130_000) {
    findings.push({
      code: "outbox.doctor.server_version",
      severity: "error",
      message: `The server is PostgreSQL ${Math.floor(facts.versionNumber / 10_000)}.`,
      remedy: "Upgrade to PostgreSQL 13 or newer; statements of this store need it.",
    });
  }
  if (facts.encoding !== "UTF8") {
    findings.push({
      code: "outbox.doctor.encoding",
      severity: "error",
      message: `The database's encoding is ${facts.encoding}: texts that it cannot express are refused at enqueue.`,
      remedy: "Use a database that was created with encoding UTF8.",
    });
  }
  if (facts.isStandby) {
    findings.push({
      code: "outbox.doctor.standby",
      severity: "error",
      message: "This connection leads to a standby, where nothing can be claimed or enqueued.",
      remedy:
        "Connect to the primary (target_session_attrs=read-write where the driver has it, or the address that follows the primary).",
    });
  }
  if (facts.defaultIsolation !== "read committed") {
    findings.push({
      code: "outbox.doctor.isolation",
      severity: "warning",
      message: `The default isolation level here is ${facts.defaultIsolation}: concurrent claims fail with serialization errors and are repeated.`,
      remedy:
        "Give the store a pool of its own (option connectionString), which sets READ COMMITTED, or ALTER ROLE the worker's role SET default_transaction_isolation = 'read committed'.",
    });
  }
  if (facts.notifyQueueUsage > notableQueueUsage) {
    findings.push({
      code: "outbox.doctor.notify_queue",
      severity: "warning",
      message: `The notification queue is ${Math.round(facts.notifyQueueUsage * 100)} % full; when it is full, commits that notify fail, business transactions included.`,
      remedy:
        "Find the session that listens inside a long transaction (pg_stat_activity) and end it; or set notify: false for producers.",
    });
  }
  return findings;
}

function schemaFinding(problem: string): Finding {
  const colon = problem.indexOf(": ");
  return {
    code: "outbox.doctor.schema",
    severity: "error",
    message: colon === -1 ? problem : `${problem.slice(0, colon)}.`,
    remedy:
      colon === -1 ? "Compare with store.migrationSql()." : sentence(problem.slice(colon + 2)),
  };
}

function clockFindings(facts: ServerFacts, startedAt: number, endedAt: number): readonly Finding[] {
  const serverNow = microsecondsToDate(facts.now).getTime();
  const skewMs =
    serverNow < startedAt ? serverNow - startedAt : serverNow > endedAt ? serverNow - endedAt : 0;
  if (Math.abs(skewMs) < notableSkewMs) return [];
  return [
    {
      code: "outbox.doctor.clock_skew",
      severity: "warning",
      message: `This host's clock is ${Math.abs(skewMs)} ms ${skewMs > 0 ? "behind" : "ahead of"} the server's. Leases and delays go by the server's; absolute times (availableAt, nextRetryAt) and logs do not.`,
      remedy: "Synchronise both clocks (NTP).",
    },
  ];
}

function durabilityFindings(facts: ServerFacts): readonly Finding[] {
  const findings: Finding[] = [];
  if (facts.fsync === "off" || facts.fullPageWrites === "off") {
    findings.push({
      code: "outbox.doctor.not_durable",
      severity: "error",
      message: `fsync is ${facts.fsync} and full_page_writes ${facts.fullPageWrites}: a crash of the machine can destroy the database.`,
      remedy: "Turn both on in postgresql.conf, except for throw-away data.",
    });
  } else if (facts.synchronousCommit === "off") {
    findings.push({
      code: "outbox.doctor.synchronous_commit",
      severity: "warning",
      message:
        "synchronous_commit is off: a crash of the server can lose the last commits, entries included, although they were confirmed.",
      remedy:
        "Set it to on (or local) for the roles that enqueue, or accept that their business writes are lost with the entries.",
    });
  }
  return findings;
}

function cleanUpFindings(facts: ServerFacts): readonly Finding[] {
  const findings: Finding[] = [];
  const isOffForTable = ["off", "false", "no", "0"].includes(facts.table?.autovacuumEnabled ?? "");
  if (facts.autovacuum === "off" || facts.trackCounts === "off" || isOffForTable) {
    findings.push({
      code: "outbox.doctor.autovacuum",
      severity: "warning",
      message: `Autovacuum is off${isOffForTable ? " for the outbox's table" : ""}: dead entries pile up at the head of the indexes and claims get slower.`,
      remedy: isOffForTable
        ? "ALTER TABLE ... RESET (autovacuum_enabled)."
        : "Turn on autovacuum and track_counts in postgresql.conf.",
    });
  }
  const { oldestTransactionSeconds } = facts;
  if (oldestTransactionSeconds !== null && oldestTransactionSeconds > notableTransactionSeconds) {
    findings.push({
      code: "outbox.doctor.held_snapshot",
      severity: "warning",
      message: `A transaction has been open for ${Math.round(oldestTransactionSeconds / 60)} minutes; until it ends, nothing that was deleted or changed since can be cleaned up.`,
      remedy:
        "Find it in pg_stat_activity (order by xact_start) and end it; set idle_in_transaction_session_timeout.",
    });
  }
  if (facts.table !== null && facts.table.deadRows > notableDeadRows + 2 * facts.table.liveRows) {
    findings.push({
      code: "outbox.doctor.dead_rows",
      severity: "warning",
      message: `The table has about ${facts.table.deadRows} dead rows beside ${facts.table.liveRows} live ones.`,
      remedy:
        "VACUUM it now; if they come back, look for a held snapshot (long transaction, replication slot) or more autovacuum workers.",
    });
  }
  return findings;
}

function permissionFindings(facts: ServerFacts, table: string): readonly Finding[] {
  if (facts.table === null) return [];
  const needs = [
    [facts.table.canSelect, "SELECT", "read anything"],
    [facts.table.canInsert, "INSERT", "enqueue"],
    [facts.table.canUpdate, "UPDATE", "claim, complete or redrive"],
    [facts.table.canDelete, "DELETE", "purge, nor deliver with onDelivered: 'delete'"],
  ] as const;
  return needs
    .filter(([isAllowed]) => !isAllowed)
    .map(([, right, purpose]) => ({
      code: "outbox.doctor.permission",
      // A producer needs less than a worker, and a worker less than an operator.
      severity: right === "SELECT" ? ("warning" as const) : ("info" as const),
      message: `The role ${facts.user} has no right to ${right} on ${table}: it cannot ${purpose}.`,
      remedy: `If it should: GRANT ${right} ON ${table} TO ${facts.user}. docs/stores/postgres.md lists the rights of producer, worker and operator.`,
    }));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
