import { createDatabase, dropDatabase } from "@outbox/temporary-postgres";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.js";

const [server] = testPostgresServers();
let url: string;
let direct: pg.Pool;

beforeAll(async () => {
  url = await createDatabase(server.url);
  direct = new pg.Pool({ connectionString: url, max: 1 });
  await direct.query("create table written (id integer)");
});

afterAll(async () => {
  await direct.end();
  await dropDatabase(server.url, url);
});

async function proxied(): Promise<{ proxy: FaultProxy; open(): Promise<pg.Client> }> {
  const proxy = await startFaultProxy({ target: url });
  onTestFinished(() => proxy.close());
  return {
    proxy,
    async open() {
      const client = new pg.Client({ connectionString: proxy.url });
      client.on("error", () => {});
      await client.connect();
      return client;
    },
  };
}

/** What a query that gets no answer is within this time. */
const within = (query: Promise<unknown>, ms: number) =>
  Promise.race([
    query.then(
      () => "answered",
      () => "failed",
    ),
    new Promise((resolve) => setTimeout(resolve, ms, "silence")),
  ]);

const isInsert = (sent: string) => sent.includes("insert into written");

test("a dropped reply is that of a committed statement, the n-th that matches", async () => {
  const { proxy, open } = await proxied();
  const client = await open();
  const dropped = proxy.dropReply({ of: isInsert, nth: 2 });
  await client.query("insert into written values ($1)", [1]);
  await client.query("select 1");
  await expect(client.query("insert into written values ($1)", [2])).rejects.toThrow();
  await dropped;
  expect((await direct.query("select id from written order by id")).rows).toEqual([
    { id: 1 },
    { id: 2 },
  ]);
  // Once is once.
  const second = await open();
  await second.query("insert into written values ($1)", [3]);
  await second.end();
});

test("inside a transaction it is the commit's reply that can be dropped", async () => {
  const { proxy, open } = await proxied();
  const client = await open();
  await client.query("begin");
  await client.query("insert into written values (4)");
  const dropped = proxy.dropReply({ of: (sent) => sent.includes("commit") });
  await expect(client.query("commit")).rejects.toThrow();
  await dropped;
  expect((await direct.query("select from written where id = 4")).rowCount).toBe(1);
});

test("a black hole keeps connections and swallows everything, new ones included; healing is for new ones", async () => {
  const { proxy, open } = await proxied();
  const client = await open();
  proxy.blackHole();
  expect(await within(client.query("select 1"), 200)).toBe("silence");
  expect(await within(open(), 200)).toBe("silence");
  proxy.heal();
  expect(await within(client.query("select 1"), 200)).toBe("silence");
  const healed = await open();
  expect(await within(healed.query("select 1"), 5_000)).toBe("answered");
  await healed.end();
});

test("a cut resets connections and refuses new ones until it is healed", async () => {
  const { proxy, open } = await proxied();
  const client = await open();
  proxy.cut();
  expect(await within(client.query("select 1"), 5_000)).toBe("failed");
  await expect(open()).rejects.toThrow();
  proxy.heal();
  const healed = await open();
  expect(proxy.connections).toBe(1);
  await healed.end();
});

test("a delay is added to both ways", async () => {
  const { proxy, open } = await proxied();
  const client = await open();
  proxy.delay(150);
  const begunAt = performance.now();
  await client.query("select 1");
  expect(performance.now() - begunAt).toBeGreaterThanOrEqual(290);
  proxy.delay(0);
  await client.end();
});
