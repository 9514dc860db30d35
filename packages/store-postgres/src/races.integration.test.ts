import type { OutboxClaim } from "@outbox/core";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createPostgresStore, type PostgresStore } from "./create-postgres-store.js";
import { useTestDatabase } from "./testing/test-database.js";

const database = useTestDatabase();
let store: PostgresStore;
let other: pg.PoolClient;
let claim: OutboxClaim;

beforeAll(async () => {
  store = createPostgresStore({ connectionString: database.url, listen: false });
  await store.migrate();
  other = await database.pool.connect();
});
afterAll(async () => {
  other.release();
  await store.close();
});
beforeEach(async () => {
  await database.pool.query("truncate outbox_entry");
  await store.enqueue({ type: "x", envelopeId: "1" }, { autonomous: true });
  const { claims } = await store.claim({ workerId: "w" });
  if (claims[0] === undefined) throw new Error("one entry is due");
  claim = claims[0];
});

/**
 * Starts `change` in an open transaction, then `action`, which must wait for it; commits, and
 * answers what the action came to. What it judged must be what is there after the wait.
 */
async function overtakenBy<Result>(change: string, action: () => Promise<Result>): Promise<Result> {
  await other.query("begin");
  await other.query(change);
  const result = action();
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query(
      "select count(*)::integer as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    expect(rows[0].waiting).toBe(1);
  });
  await other.query("commit");
  return result;
}

const row = async () =>
  (await database.pool.query("select status, claim_token, visible_at from outbox_entry")).rows[0];

const reclaimed = "update outbox_entry set claim_token = 'of another', claim_owner = 'another'";

describe("what waits for another's transaction judges what that leaves", () => {
  it("a transition finds the claim lost", async () => {
    const { outcome, entry } = await overtakenBy(reclaimed, () => store.markClaimDelivered(claim));
    expect(outcome).toBe("stale-claim");
    expect(entry).toMatchObject({ status: "pending", claimOwner: "another" });
    expect(await row()).toMatchObject({ status: "pending", claim_token: "of another" });
  });

  it("a transition finds the entry terminal", async () => {
    const change =
      "update outbox_entry set status = 'dead-lettered', visible_at = null, claim_token = null";
    const { outcome } = await overtakenBy(change, () => store.markClaimDelivered(claim));
    expect(outcome).toBe("terminal");
    expect(await row()).toMatchObject({ status: "dead-lettered" });
  });

  it("a transition finds the entry gone", async () => {
    const { outcome } = await overtakenBy("delete from outbox_entry", () =>
      store.markClaimDelivered(claim),
    );
    expect(outcome).toBe("missing");
  });

  it("a transition still applies where the other changed something else", async () => {
    const { outcome } = await overtakenBy("update outbox_entry set subject = 'new'", () =>
      store.markClaimDelivered(claim),
    );
    expect(outcome).toBe("applied");
    expect(await row()).toMatchObject({ status: "delivered" });
  });

  it("a renewal finds the claim lost", async () => {
    const before = await row();
    const [extension] = await overtakenBy(reclaimed, () =>
      store.extendClaims([claim], { leaseDurationMs: 3_600_000 }),
    );
    expect(extension).toEqual({ outcome: "stale-claim", claim: null });
    expect((await row()).visible_at).toEqual(before.visible_at);
  });

  it("a renewal is measured from the end of the wait", async () => {
    const [extension] = await overtakenBy("update outbox_entry set subject = 'new'", async () => {
      const extended = store.extendClaims([claim], { leaseDurationMs: 60_000 });
      await new Promise((resolve) => setTimeout(resolve, 500));
      return extended;
    });
    const { rows } = await database.pool.query(
      "select extract(epoch from visible_at - clock_timestamp())::float8 as left from outbox_entry",
    );
    expect(extension?.outcome).toBe("applied");
    expect(rows[0].left).toBeGreaterThan(59.5);
  });

  it("a save finds the entry leased", async () => {
    await store.releaseClaim(claim);
    const { outcome } = await overtakenBy(
      `${reclaimed}, visible_at = clock_timestamp() + interval '1 minute'`,
      () => store.markDelivered("1"),
    );
    expect(outcome).toBe("leased");
    expect(await row()).toMatchObject({ status: "pending" });
  });

  it("a save finds the entry changed since it was read", async () => {
    await store.releaseClaim(claim);
    const read = await store.findByOutboxEntryId("1");
    if (read === null) throw new Error("the entry is there");
    const { outcome } = await overtakenBy(
      "update outbox_entry set updated_at = updated_at + interval '1 millisecond'",
      () => store.save(read, { ...read, status: "deferred", nextRetryAt: new Date() }),
    );
    expect(outcome).toBe("concurrency-lost");
    expect(await row()).toMatchObject({ status: "pending" });
  });

  it("a claim, a purge and a redrive pass by what is locked", async () => {
    await store.markClaimDeadLettered(claim, { code: "x", message: "x", isRetryable: false });
    await store.enqueue({ type: "x", envelopeId: "2" }, { autonomous: true });
    await other.query("begin; select from outbox_entry for update");
    expect(await store.claim({ workerId: "w" })).toMatchObject({ claims: [], more: "contended" });
    expect(await store.purge({ status: "dead-lettered", olderThanMs: 0 })).toEqual({ count: 0 });
    expect(await store.redrive({ all: true })).toEqual({ count: 0 });
    await other.query("rollback");
  });
});
