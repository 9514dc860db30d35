import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createDatabase, dropDatabase } from "@outbox/temporary-postgres";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createReceiver } from "./create-receiver.js";
import type { Reaction } from "./receiver-faults.js";
import { createReceiverLedger } from "./receiver-ledger.js";

const [postgres] = testPostgresServers();
let databaseUrl: string;
let pool: pg.Pool;
let url: string;
let server: ReturnType<typeof createReceiver>;
let ledger: ReturnType<typeof createReceiverLedger>;

/** What the nth request about an order gets. */
const reactions: Record<string, readonly Reaction[]> = {
  refused: ["refuse", "refuse", "accept"],
  silent: ["silence", "accept"],
  fine: [],
};

beforeAll(async () => {
  databaseUrl = await createDatabase(postgres.url);
  pool = new pg.Pool({ connectionString: databaseUrl });
  ledger = createReceiverLedger(pool);
  await ledger.createTables();
  server = createReceiver({
    ledger,
    chooseReaction: (orderId, attempt) => reactions[orderId]?.[attempt - 1] ?? "accept",
    workMs: 1,
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await pool.end();
  await dropDatabase(postgres.url, databaseUrl);
});

const send = (orderId: string, workerId = "worker-1", timeoutMs = 10_000) =>
  fetch(url, {
    method: "POST",
    headers: { "idempotency-key": `key of ${orderId}`, "x-worker-id": workerId },
    body: JSON.stringify({ subject: orderId }),
    signal: AbortSignal.timeout(timeoutMs),
  });

const recorded = async (orderId: string) =>
  (await ledger.requests()).filter((request) => request.orderId === orderId);

describe("the receiver", () => {
  it("processes an order once, and recognises its key the next time", async () => {
    expect(await (await send("fine")).text()).toBe("processed");
    expect(await (await send("fine", "worker-2")).text()).toBe("duplicate");
    expect(await recorded("fine")).toEqual([
      {
        idempotencyKey: "key of fine",
        orderId: "fine",
        workerId: "worker-1",
        outcome: "processed",
        answered: true,
      },
      expect.objectContaining({ workerId: "worker-2", outcome: "duplicate" }),
    ]);
  });

  it("does nothing when it refuses", async () => {
    const statuses = [];
    for (let attempt = 0; attempt < 3; attempt++) statuses.push((await send("refused")).status);
    expect(statuses).toEqual([503, 503, 202]);
    expect((await recorded("refused")).map(({ outcome }) => outcome)).toEqual([
      "refused",
      "refused",
      "processed",
    ]);
  });

  it("processes an order even when it never answers", async () => {
    await expect(send("silent", "worker-1", 300)).rejects.toThrow("timeout");
    expect(await (await send("silent")).text()).toBe("duplicate");
    expect(await recorded("silent")).toMatchObject([
      { outcome: "processed", answered: false },
      { outcome: "duplicate", answered: true },
    ]);
  });

  it("processes an order once when two requests for it come at the same moment", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => send("raced")));
    const outcomes = await Promise.all(answers.map((answer) => answer.text()));
    expect(outcomes.filter((outcome) => outcome === "processed")).toHaveLength(1);
  });

  it("counts what it has seen", async () => {
    expect(await ledger.counts()).toEqual({
      requests: 17,
      refused: 2,
      unanswered: 1,
      duplicates: 11,
    });
  });
});
