import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPostgresStore, type PostgresStore } from "./create-postgres-store.js";
import { useTestDatabase } from "./testing/test-database.js";

const database = useTestDatabase();
let store: PostgresStore;

beforeAll(async () => {
  store = createPostgresStore({ pool: database.pool });
  await store.migrate();
});
afterAll(() => store.close());
beforeEach(async () => {
  await database.pool.query("truncate outbox_entry");
});

const error = { code: "http.500", message: "boom", isRetryable: true };

/** Two pending, one delayed, one leased, one expired, one deferred, one parked, one dead, two delivered. */
async function fillWithEverything(): Promise<void> {
  const types = [
    "a",
    "b",
    "delayed",
    "leased",
    "expired",
    "deferred",
    "failed",
    "dead",
    "d1",
    "d2",
  ];
  await store.enqueue(
    types.map((type) => ({
      type,
      envelopeId: type,
      destination: type === "leased" ? "billing" : "default",
      ...(type === "delayed" ? { availableInMs: 3_600_000 } : {}),
    })),
    { autonomous: true },
  );
  const claim = async (type: string, leaseDurationMs = 60_000) => {
    const { claims } = await store.claim({
      workerId: `worker of ${type}`,
      types: [type],
      leaseDurationMs,
    });
    const [one] = claims;
    if (one === undefined) throw new Error(`${type} is not claimable`);
    return one;
  };
  await claim("leased");
  await claim("expired");
  await database.pool.query(
    "update outbox_entry set visible_at = visible_at - interval '2 minutes' where type = 'expired'",
  );
  await store.completeClaims([
    { claim: await claim("deferred"), kind: "deferred", retryInMs: 3_600_000 },
    { claim: await claim("failed"), kind: "failed", error: { ...error, isRetryable: false } },
    { claim: await claim("dead"), kind: "dead-lettered", error },
    { claim: await claim("d1"), kind: "delivered" },
    { claim: await claim("d2"), kind: "delivered" },
  ]);
}

describe("stats", () => {
  it("counts what waits, who holds what, and what is done", async () => {
    await fillWithEverything();
    const stats = await store.stats({ exact: true });
    expect(stats).toMatchObject({
      byStatus: {
        pending: 5,
        delivered: 2,
        deferred: 1,
        failed: 1,
        "retryable-failure": 0,
        "dead-lettered": 1,
      },
      deliveredIsEstimate: false,
      ready: 3,
      leased: 1,
      expired: 1,
      delayed: 2,
      leasedByOwner: [{ owner: "worker of leased", count: 1 }],
    });
    expect(stats.oldestReadyAgeMs).toBeGreaterThan(59_000);
    expect(stats.openByType).toHaveLength(7);
    expect(stats.openByType).toContainEqual({ type: "leased", destination: "billing", count: 1 });
    expect(stats.openByType).not.toContainEqual(expect.objectContaining({ type: "dead" }));
  });

  it("estimates what is delivered, analysed or not, and never the rest", async () => {
    await fillWithEverything();
    await database.pool.query("analyze outbox_entry");
    const stats = await store.stats();
    expect(stats).toMatchObject({ deliveredIsEstimate: true, ready: 3, leased: 1, delayed: 2 });
    expect(stats.byStatus).toMatchObject({ delivered: 2, pending: 5, failed: 1 });
  });

  it("of an empty outbox are zero", async () => {
    expect(await store.stats({ exact: true })).toMatchObject({
      ready: 0,
      oldestReadyAgeMs: null,
      openByType: [],
      leasedByOwner: [],
    });
  });
});

describe("list", () => {
  it("filters by everything that can be said, in order, page by page", async () => {
    await fillWithEverything();
    const typesOf = async (filter: Parameters<PostgresStore["list"]>[0]) =>
      (await store.list(filter)).entries.map(({ envelope }) => envelope.type);
    expect(await typesOf({ statuses: ["delivered", "dead-lettered"] })).toEqual([
      "dead",
      "d1",
      "d2",
    ]);
    expect(await typesOf({ destinations: ["billing"] })).toEqual(["leased"]);
    expect(await typesOf({ types: ["d1", "d2", "dead", "a"] })).toEqual(["a", "dead", "d1", "d2"]);
    expect(await typesOf({ envelopeIds: ["a", "b"], statuses: ["pending"] })).toEqual(["a", "b"]);
    expect(await typesOf({ entryIds: ["nope"] })).toEqual([]);
    expect(await typesOf({ createdFrom: new Date(Date.now() + 60_000) })).toEqual([]);
    expect(await typesOf({ createdBefore: new Date(Date.now() + 60_000) })).toHaveLength(10);
    const pages = [];
    let after: string | undefined;
    do {
      const page = await store.list({ all: true }, { maxCount: 4, after });
      pages.push(page.entries.length);
      after = page.cursor;
    } while (after !== undefined);
    expect(pages).toEqual([4, 4, 2]);
    await expect(store.list({ all: true }, { after: "1; drop table" })).rejects.toThrow(
      /options\.after is not a cursor/,
    );
  });
});

describe("redrive", () => {
  it("goes through any number, in chunks", async () => {
    await database.pool.query(`insert into outbox_entry (
      entry_id, envelope_id, destination, type, source, data_content_type, payload, payload_bytes,
      occurred_at, created_at, updated_at, status, retry_count, claim_attempt_count
    )
    select 'e' || n, 'e' || n, 'default', case when n % 2 = 0 then 'even' else 'odd' end, '/', 'application/json', '1', 1,
      now(), now(), now(), case when n % 3 = 0 then 'failed' else 'dead-lettered' end, 20, 21
    from generate_series(1, 5000) as n`);
    expect(await store.redrive({ types: ["even"] }, { dryRun: true })).toEqual({ count: 2_500 });
    expect(await store.redrive({ types: ["even"] }, { by: "me", reason: "fixed" })).toEqual({
      count: 2_500,
    });
    expect(await store.redrive({ types: ["even"] })).toEqual({ count: 0 });
    const stats = await store.stats({ exact: true });
    expect(stats).toMatchObject({ ready: 2_500, byStatus: { pending: 2_500 } });
    const { claims } = await store.claim({ workerId: "w", maxCount: 1 });
    expect(claims[0]?.entry).toMatchObject({
      retryCount: 0,
      claimAttemptCount: 22,
      lastRedrive: { by: "me", reason: "fixed" },
    });
  });
});

describe("purge", () => {
  it("goes through any number in chunks, by age and status, and stops when told to", async () => {
    await database.pool.query(`insert into outbox_entry (
      entry_id, envelope_id, destination, type, source, data_content_type, payload, payload_bytes,
      occurred_at, created_at, updated_at, status
    )
    select 'e' || n, 'e' || n, 'default', 'x', '/', 'application/json', '1', 1,
      now(), now(), now() - n * interval '1 minute',
      case when n % 2 = 0 then 'delivered' else 'dead-lettered' end
    from generate_series(1, 1000) as n`);
    const olderThanMs = 500 * 60_000;
    const abort = new AbortController();
    abort.abort();
    expect(await store.purge({ status: "delivered", olderThanMs, signal: abort.signal })).toEqual({
      count: 0,
    });
    expect(await store.purge({ status: "delivered", olderThanMs, dryRun: true })).toEqual({
      count: 251,
    });
    expect(await store.purge({ status: "delivered", olderThanMs, batchSize: 100 })).toEqual({
      count: 251,
    });
    expect(
      await store.purge({ status: ["delivered", "dead-lettered"], olderThanMs: 0, batchSize: 300 }),
    ).toEqual({ count: 749 });
  });
});

describe("diagnose", () => {
  const codes = async (options: { readonly options?: string } = {}) => {
    const pool = new pg.Pool({ connectionString: database.url, ...options });
    const findings = await createPostgresStore({ pool }).diagnose();
    await pool.end();
    for (const { message, remedy } of findings) {
      expect(message).toMatch(/\.$/);
      expect(remedy).toMatch(/\.$/);
    }
    // Throw-away servers are not durable, and that is said.
    return findings.map(({ code }) => code).filter((code) => code !== "outbox.doctor.not_durable");
  };

  it("finds nothing on an outbox in order", async () => {
    expect(await codes()).toEqual([]);
  });

  it("finds a default isolation level that costs repetitions", async () => {
    expect(await codes({ options: "-c default_transaction_isolation=serializable" })).toEqual([
      "outbox.doctor.isolation",
    ]);
  });

  it("finds autovacuum turned off for the table", async () => {
    await database.pool.query("alter table outbox_entry set (autovacuum_enabled = false)");
    expect(await codes()).toEqual(["outbox.doctor.autovacuum"]);
    await database.pool.query("alter table outbox_entry reset (autovacuum_enabled)");
  });

  it("finds a missing index", async () => {
    await database.pool.query("alter index outbox_entry_ready rename to elsewhere");
    expect(await codes()).toEqual(["outbox.doctor.schema"]);
    await database.pool.query("alter index elsewhere rename to outbox_entry_ready");
  });

  it("finds clocks that disagree", async () => {
    const real = Date.now;
    Date.now = () => real() + 3_600_000;
    try {
      expect(await codes()).toEqual(["outbox.doctor.clock_skew"]);
    } finally {
      Date.now = real;
    }
  });
});

describe("roles with the rights of docs/stores/postgres.md", () => {
  const roles = ["producer", "worker", "operator"] as const;
  const grants = {
    producer: "grant select, insert on outbox_entry to",
    worker: "grant select, update on outbox_entry to",
    operator: "grant select, update, delete on outbox_entry to",
  };
  const name = (role: string) => `outbox_test_${role}_${process.pid}`;
  const openAs = (role: string) => {
    const url = new URL(database.url);
    url.username = name(role);
    url.password = "secret";
    return createPostgresStore({ connectionString: url.href, listen: false });
  };

  beforeAll(async () => {
    for (const role of roles) {
      await database.pool.query(`create role ${name(role)} login password 'secret'`);
      await database.pool.query(`${grants[role]} ${name(role)}`);
      await database.pool.query(`grant select on outbox_entry_migration to ${name(role)}`);
    }
  });
  afterAll(async () => {
    for (const role of roles) {
      await database.pool.query(`drop owned by ${name(role)}; drop role ${name(role)}`);
    }
  });

  it("do what they are for, and no more", async () => {
    const [producer, worker, operator] = roles.map(openAs) as [
      PostgresStore,
      PostgresStore,
      PostgresStore,
    ];
    await producer.enqueue({ type: "x", envelopeId: "1" }, { autonomous: true });
    await producer.enqueue({ type: "x", envelopeId: "1" }, { autonomous: true });
    await producer.enqueue([{ type: "x" }, { type: "x" }], { autonomous: true });
    await expect(producer.claim({ workerId: "w" })).rejects.toThrow(/permission denied/);

    const { claims } = await worker.claim({ workerId: "w" });
    await worker.extendClaims(claims, { leaseDurationMs: 1_000 });
    const [first, second, third] = claims;
    if (!first || !second || !third) throw new Error("three entries were enqueued");
    await worker.markClaimDelivered(first);
    await worker.markClaimDeadLettered(second, error);
    await worker.releaseClaim(third);

    await expect(operator.enqueue({ type: "x" }, { autonomous: true })).rejects.toThrow(
      /permission denied/,
    );
    expect(await operator.redrive({ all: true })).toEqual({ count: 1 });
    expect(await operator.purge({ status: "delivered", olderThanMs: 0 })).toEqual({ count: 1 });
    expect(await operator.stats({ exact: true })).toMatchObject({ ready: 2 });
    expect((await operator.list({ all: true })).entries).toHaveLength(2);
    const findings = await producer.diagnose();
    expect(findings.map(({ code }) => code)).toContain("outbox.doctor.permission");
    for (const store of [producer, worker, operator]) await store.close();
  });

  it("need no more for the SQL function than for enqueue", async () => {
    const url = new URL(database.url);
    url.username = name("producer");
    url.password = "secret";
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query("select outbox_enqueue(type => 'x')");
    await client.end();
  });
});
