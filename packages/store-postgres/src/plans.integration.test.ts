import type { ClaimCommand, OutboxClaim } from "@outbox/core";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgresStore } from "./create-postgres-store.js";
import { outboxNames } from "./outbox-names.js";
import { claimStatement } from "./sql/claim.js";
import { completeStatement } from "./sql/complete.js";
import { isReady } from "./sql/eligibility.js";
import { extendStatement } from "./sql/extend.js";
import { purgeStatement } from "./sql/purge.js";
import { statsStatement } from "./sql/stats.js";
import { explain, type PlanNode, scansOf } from "./testing/explain.js";
import { useTestDatabase } from "./testing/test-database.js";

const database = useTestDatabase();
const names = outboxNames();
const table = "outbox_entry";
const ready = 200_000;

let client: pg.Client;
beforeAll(async () => {
  const store = createPostgresStore({ pool: database.pool });
  await store.migrate();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
});
afterAll(() => client.end());

/** Rows straight into the table. `sql` gives the values of the state columns. */
async function fill(count: number, state: string): Promise<void> {
  await client.query(
    `insert into ${table} (
  entry_id, envelope_id, destination, type, source, data_content_type, payload, payload_bytes,
  occurred_at, created_at, updated_at, status, visible_at, claim_token, claim_owner
)
select id, id, 'default', 'order.placed', '/outbox', 'application/json', '{"number":1}', 12,
  now(), now(), now(), state.*
from (select gen_random_uuid()::text as id, number from generate_series(1, $1::integer) as number) as row
cross join lateral (${state}) as state`,
    [count],
  );
}

const readyState =
  "select 'pending', now() - interval '1 hour' + number * interval '1 ms', null::text, null::text";

const command: ClaimCommand = {
  kind: "any",
  workerId: "worker",
  leaseDurationMs: 60_000,
  maxCount: 100,
  maxBytes: null,
  types: null,
  suspects: "exclude",
  claimId: null,
  after: null,
  tokenPrefix: "prefix",
};

const commands: Record<string, Partial<ClaimCommand>> = {
  "a claim as the drain makes it": { claimId: "claim" },
  "a claim of everything": { suspects: "include" },
  "a claim of suspects": { suspects: "only" },
  "a claim of types": { types: { exact: ["order.placed", "order.paid"], prefixes: ["invoice."] } },
  "a claim of one kind": { kind: "pending" },
  "a claim within bytes": { maxBytes: 600 },
};

/** Ways in which the planner may be misled. Each is undone by `reset all` and the statistics' order. */
const circumstances: readonly {
  readonly name: string;
  readonly prepare: () => Promise<unknown>;
}[] = [
  { name: "never analysed", prepare: async () => {} },
  {
    name: "never analysed, generic plans",
    prepare: () => client.query("set plan_cache_mode = force_generic_plan"),
  },
  {
    name: "statistics from when the outbox was empty of ready entries",
    prepare: async () => {
      await client.query(`update ${table} set visible_at = null, status = 'delivered'`);
      await client.query(`analyze ${table}`);
      await client.query(`update ${table} set visible_at = created_at, status = 'pending'`);
      // Counts the rows anew, but learns nothing about their columns.
      await client.query(`vacuum ${table}`);
    },
  },
  { name: "analysed", prepare: () => client.query(`vacuum analyze ${table}`) },
  {
    name: "analysed, generic plans",
    prepare: () => client.query("set plan_cache_mode = force_generic_plan"),
  },
];

describe.each(circumstances)(`plans at ${ready} ready entries, $name`, ({ name, prepare }) => {
  beforeAll(async () => {
    await client.query("reset all");
    if (name.startsWith("never")) {
      await client.query(`truncate ${table}`);
      await fill(ready, readyState);
    }
    await prepare();
  });

  it.each(Object.keys(commands))(
    "%s is an ordered index scan that ends at its limit",
    async (which) => {
      const plan = await explain(
        client,
        claimStatement(names, { ...command, ...commands[which] }, null),
      );
      const scans = scansOf(plan, table);
      expect(scans.map(accessOf)).not.toContain("Seq Scan");
      expect(plan.nodes.filter(sortsTable)).toEqual([]);
      const due = scans.filter(({ "Index Name": index }) => /_(ready|leased)$/.test(index ?? ""));
      expect(due.length).toBeGreaterThan(0);
      for (const scan of due) {
        expect(accessOf(scan)).toMatch(/^Index (Only )?Scan$/);
        expect(scan["Index Cond"]).toMatch(/visible_at <= /);
        expect(scan["Actual Rows"] * scan["Actual Loops"]).toBeLessThanOrEqual(100);
      }
      // 100 entries with their index entries, and not the 200 000.
      expect(plan.buffers).toBeLessThan(8_000);
    },
  );

  it("a completion and a renewal look up each entry by its key", async () => {
    const claims = await someClaims(100);
    for (const statement of [
      completeStatement(names, claims.map(delivered), "keep"),
      completeStatement(names, claims.map(delivered), "delete"),
      extendStatement(names, claims, 60_000),
    ]) {
      const plan = await explain(client, statement);
      for (const scan of scansOf(plan, table)) {
        // Without statistics a single look-up may be a bitmap of one page.
        expect(["Index Scan", "Bitmap Heap Scan"]).toContain(accessOf(scan));
        expect(indexOf(scan)).toBe("outbox_entry_pkey");
      }
      // The joins are nested loops over one row each, never n times n.
      for (const node of plan.nodes) {
        expect(node["Actual Rows"] * node["Actual Loops"]).toBeLessThanOrEqual(100);
      }
      expect(plan.buffers).toBeLessThan(8_000);
    }
  });
});

describe("an empty claim", () => {
  it("reads a handful of buffers beside many delayed and leased entries", async () => {
    await client.query("reset all");
    await client.query(`truncate ${table}`);
    await fill(200_000, "select 'pending', now() + interval '1 hour', null::text, null::text");
    await fill(
      50_000,
      "select 'pending', now() + interval '1 hour', 'token:' || number, 'stalled'",
    );
    for (const analysed of [false, true]) {
      if (analysed) await client.query(`vacuum analyze ${table}`);
      for (const suspects of ["exclude", "include", "only"] as const) {
        const statement = claimStatement(names, { ...command, suspects, claimId: "claim" }, null);
        const { buffers } = await explain(client, statement);
        expect(buffers, `${suspects}, ${analysed ? "" : "not "}analysed`).toBeLessThanOrEqual(20);
      }
    }
  });

  it("reads a handful of buffers beside many delivered entries", async () => {
    await client.query(`truncate ${table}`);
    await fill(200_000, "select 'delivered', null::timestamptz, null::text, null::text");
    await client.query(`vacuum analyze ${table}`);
    const statement = claimStatement(names, { ...command, claimId: "claim" }, null);
    expect((await explain(client, statement)).buffers).toBeLessThanOrEqual(20);
  });
});

describe("a claim with every usual plan forbidden", () => {
  it.each(["exclude", "include"] as const)(
    "claims 10 and stamps 10 (suspects: %s)",
    async (suspects) => {
      await client.query("reset all");
      await client.query(`truncate ${table}`);
      await fill(1_000, readyState);
      for (const setting of [
        "enable_hashjoin",
        "enable_mergejoin",
        "enable_hashagg",
        "enable_indexscan",
        "enable_indexonlyscan",
        "enable_bitmapscan",
        "enable_material",
        "enable_memoize",
        "enable_sort",
      ]) {
        await client.query(`set ${setting} = off`);
      }
      const statement = claimStatement(names, { ...command, suspects, maxCount: 10 }, null);
      const { rows } = await client.query({ text: statement.text, values: [...statement.values] });
      // One row is the summary.
      expect(rows).toHaveLength(11);
      const stamped = await client.query(
        `select count(*)::integer from ${table} where claim_token is not null or claim_attempt_count > 0`,
      );
      expect(stamped.rows).toEqual([{ count: 10 }]);
    },
  );

  it("is where the obvious statement claims everything", async () => {
    await client.query("begin");
    const { rowCount } = await client.query(`update ${table} set claim_owner = 'greedy'
where entry_id in (
  select entry_id from ${table} as entry where ${isReady("entry")} and visible_at <= now()
  order by visible_at, seq limit 10 for update skip locked
)`);
    await client.query("rollback");
    expect(rowCount).toBeGreaterThan(10);
  });
});

describe("administration beside a million delivered entries' worth of index", () => {
  it("purges a range of the settled index, and counts what is open by the partial indexes", async () => {
    await client.query("reset all");
    await client.query(`truncate ${table}`);
    await fill(100_000, "select 'delivered', null::timestamptz, null::text, null::text");
    await fill(500, readyState);
    await client.query(`vacuum analyze ${table}`);
    const purge = await explain(
      client,
      purgeStatement(names, { status: "delivered", olderThanMs: 0 }, 100),
    );
    expect(scansOf(purge, table).map(accessOf)).not.toContain("Seq Scan");
    const stats = await explain(client, statsStatement(names, false));
    expect(scansOf(stats, table).map(accessOf)).not.toContain("Seq Scan");
    expect(stats.buffers).toBeLessThan(2_000);
  });
});

function accessOf(node: PlanNode): string {
  return node["Node Type"];
}

/** The index of a scan, or of the bitmap below it. */
function indexOf(node: PlanNode): string | undefined {
  return node["Index Name"] ?? node.Plans?.map(indexOf).find((name) => name !== undefined);
}

function sortsTable(node: PlanNode): boolean {
  return (
    node["Node Type"].includes("Sort") &&
    (node.Plans ?? []).some((below) => below["Relation Name"] === table)
  );
}

/** Claims `count` entries for good; the next circumstance fills or updates the table anew. */
async function someClaims(count: number): Promise<readonly OutboxClaim[]> {
  const { rows } = await client.query(
    `update ${table} set claim_token = 'token:' || seq
where entry_id in (select entry_id from ${table} where visible_at <= now() limit $1)
returning entry_id, claim_token`,
    [count],
  );
  return rows
    .map(
      (row) =>
        ({
          claimToken: row.claim_token,
          entry: { entryId: row.entry_id, failures: [], metadata: {} },
        }) as unknown as OutboxClaim,
    )
    .sort((a, b) => (a.entry.entryId < b.entry.entryId ? -1 : 1));
}

function delivered(claim: OutboxClaim) {
  return {
    claim,
    write: {
      kind: "delivered",
      status: "delivered",
      retryCount: 0,
      failures: claim.entry.failures,
      metadata: claim.entry.metadata,
      due: null,
      deadLetterReason: null,
      providerMessageId: null,
    },
  } as const;
}
