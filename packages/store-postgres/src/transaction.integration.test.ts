import { EntryIdTakenError, NotATransactionError } from "@outbox/core";
import { createDatabase, dropDatabase } from "@outbox/temporary-postgres";
import { testPostgresServers } from "@outbox/temporary-postgres/vitest";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPostgresStore, type PostgresStore } from "./create-postgres-store.js";
import {
  type OpenLibrary,
  openDrizzlePg,
  openDrizzlePostgresJs,
  openKysely,
  openOldPg,
  openPg,
  openPglite,
  openPostgresJs,
  openPrisma,
  type TransactionLibrary,
} from "./testing/transaction-libraries.js";
import type { PostgresTransaction } from "./transaction.js";

const [server] = testPostgresServers();
let url: string;

beforeAll(async () => {
  url = await createDatabase(server.url);
  const store = createPostgresStore({ connectionString: url });
  await store.migrate();
  await store.close();
});
afterAll(() => dropDatabase(server.url, url));

const libraries: readonly OpenLibrary[] = [
  openPg,
  openOldPg,
  openPostgresJs,
  openKysely,
  openDrizzlePg,
  openDrizzlePostgresJs,
  openPrisma,
];

describe.each(libraries.map((open) => ({ name: open.name.replace(/^open/, ""), open })))(
  "enqueue in a transaction of $name",
  ({ open }) => {
    let library: TransactionLibrary;
    let store: PostgresStore;
    beforeAll(async () => {
      library = await open(url);
      store = createPostgresStore({ connectionString: url, listen: false });
    });
    afterAll(async () => {
      await store.close();
      await library.close();
    });
    cases(
      () => library,
      () => store,
    );
  },
);

describe("enqueue in a transaction of PGlite", async () => {
  const { pglite, library, drizzle } = await openPglite();
  const store = createPostgresStore({ pglite });
  beforeAll(async () => {
    await store.migrate();
  });
  afterAll(async () => {
    await store.close();
    await library.close();
  });
  cases(
    () => library,
    () => store,
  );
  describe("beneath Drizzle", () => {
    cases(
      () => drizzle,
      () => store,
    );
  });

  it("refuses a transaction that is over", async () => {
    let over: PostgresTransaction | undefined;
    await pglite.transaction(async (tx) => {
      over = tx;
    });
    await expect(
      store.enqueue({ type: "late" }, { tx: over as PostgresTransaction }),
    ).rejects.toThrow(/PGlite transaction given as tx is over/);
  });
});

function cases(library: () => TransactionLibrary, store: () => PostgresStore): void {
  const envelopeIds = async () =>
    (await store().list({ all: true })).entries.map(({ envelope }) => envelope.envelopeId).sort();

  beforeEach(async () => {
    await library().run("create table if not exists orders (id text)");
    await library().run("delete from outbox_entry");
    await library().run("delete from orders");
  });

  it("is there after the commit, and its payload as it went in", async () => {
    const payload = { b: 1, a: ["\u0000", "ü", '"\\'], deep: { null: null } };
    await library().transaction(async ({ tx, run }) => {
      await run("insert into orders values ('1')");
      const result = await store().enqueue(
        { type: "order.placed", envelopeId: "1", payload },
        { tx },
      );
      expect(result).toEqual({
        entryId: "1",
        envelopeId: "1",
        destination: "default",
        enqueued: true,
      });
      await store().enqueue(
        { type: "blob", envelopeId: "2", payload: new Uint8Array([0, 255]) },
        { tx },
      );
    });
    const { claims } = await store().claim({ workerId: "w" });
    expect(claims.map(({ entry }) => entry.envelope.payload)).toEqual([
      payload,
      new Uint8Array([0, 255]),
    ]);
    expect(JSON.stringify(claims[0]?.entry.envelope.payload)).toBe(JSON.stringify(payload));
  });

  it("is there even if the transaction wrote nothing before", async () => {
    await library().transaction(async ({ tx }) => {
      await store().enqueue({ type: "order.placed", envelopeId: "first" }, { tx });
    });
    expect(await envelopeIds()).toEqual(["first"]);
  });

  it("is nothing after a rollback", async () => {
    const failure = new Error("the order is refused");
    await expect(
      library().transaction(async ({ tx, run }) => {
        await run("insert into orders values ('1')");
        await store().enqueue({ type: "order.placed" }, { tx });
        throw failure;
      }),
    ).rejects.toBe(failure);
    expect(await envelopeIds()).toEqual([]);
  });

  it("shares the fate of a savepoint", async () => {
    await library().transaction(async ({ tx, run, savepoint }) => {
      await run("insert into orders values ('1')");
      await store().enqueue({ type: "order.placed", envelopeId: "kept" }, { tx });
      await expect(
        savepoint(async (inner) => {
          await store().enqueue({ type: "order.placed", envelopeId: "undone" }, { tx: inner });
          throw new Error("not this");
        }),
      ).rejects.toThrow("not this");
      await store().enqueue({ type: "order.placed", envelopeId: "after" }, { tx });
    });
    expect(await envelopeIds()).toEqual(["after", "kept"]);
  });

  it("reports a duplicate and leaves the transaction usable", async () => {
    await store().enqueue({ type: "order.placed", envelopeId: "twice" }, { autonomous: true });
    await library().transaction(async ({ tx, run }) => {
      const again = await store().enqueue({ type: "order.placed", envelopeId: "twice" }, { tx });
      expect(again).toMatchObject({ enqueued: false, entryId: "twice" });
      await run("insert into orders values ('1')");
      await store().enqueue({ type: "order.placed", envelopeId: "other" }, { tx });
    });
    expect(await envelopeIds()).toEqual(["other", "twice"]);
  });

  it("refuses an entry id of another envelope", async () => {
    await store().enqueue({ type: "x", envelopeId: "a", entryId: "taken" }, { autonomous: true });
    await expect(
      library().transaction(({ tx }) =>
        store().enqueue({ type: "x", envelopeId: "b", entryId: "taken" }, { tx }),
      ),
    ).rejects.toThrow(EntryIdTakenError);
    expect(await envelopeIds()).toEqual(["a"]);
  });

  it("takes several calls at once in one transaction", async () => {
    await library().transaction(async ({ tx, run }) => {
      await run("insert into orders values ('1')");
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          store().enqueue(
            [
              { type: "order.placed", envelopeId: `${index}a` },
              { type: "order.placed", envelopeId: `${index}b` },
            ],
            { tx },
          ),
        ),
      );
    });
    expect(await envelopeIds()).toHaveLength(16);
  });

  it("refuses a handle that is no transaction, and writes nothing", async () => {
    await expect(
      store().enqueue({ type: "order.placed" }, { tx: library().mistaken }),
    ).rejects.toThrow(NotATransactionError);
    expect(await envelopeIds()).toEqual([]);
  });
}

describe("what can be told of a handle", () => {
  let store: PostgresStore;
  let client: pg.Client;
  beforeAll(async () => {
    store = createPostgresStore({ connectionString: url, listen: false });
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await store.close();
  });

  it("refuses a pg client before BEGIN and after COMMIT", async () => {
    await expect(store.enqueue({ type: "x" }, { tx: client })).rejects.toThrow(
      /no open transaction.*between BEGIN and COMMIT/s,
    );
    await client.query("begin");
    await client.query("commit");
    await expect(store.enqueue({ type: "x" }, { tx: client })).rejects.toThrow(
      NotATransactionError,
    );
  });

  it("accepts a BEGIN that is still on its way", async () => {
    const begin = client.query("begin");
    await expect(store.enqueue({ type: "x" }, { tx: client })).resolves.toMatchObject({
      enqueued: true,
    });
    await begin;
    await client.query("rollback");
  });

  it("refuses a pg pool", async () => {
    const pool = new pg.Pool({ connectionString: url });
    const tx = pool as unknown as PostgresTransaction;
    await expect(store.enqueue({ type: "x" }, { tx })).rejects.toThrow(/Pool was given as tx/);
    await pool.end();
  });

  it("refuses a pg client that is not connected", async () => {
    await expect(store.enqueue({ type: "x" }, { tx: new pg.Client() })).rejects.toThrow(
      NotATransactionError,
    );
  });

  it("says how to pass an ORM's transaction when given the ORM's own object", async () => {
    const tx = { execute: () => {} } as unknown as PostgresTransaction;
    await expect(store.enqueue({ type: "x" }, { tx })).rejects.toThrow(/CompiledQuery/);
  });

  it("says so when a function returns no rows", async () => {
    const tx = (async () => undefined) as unknown as PostgresTransaction;
    await expect(store.enqueue({ type: "x" }, { tx })).rejects.toThrow(/return what the query/);
  });

  it("needs one statement where the transaction wrote before, three where it did not", async () => {
    const texts: string[] = [];
    const tx: PostgresTransaction = (text, values) => {
      texts.push(text);
      return client.query(text, values);
    };
    await client.query("begin");
    await store.enqueue({ type: "x" }, { tx });
    expect(texts).toHaveLength(3);
    texts.length = 0;
    await store.enqueue({ type: "x" }, { tx });
    expect(texts).toHaveLength(1);
    await client.query("rollback");
  });

  it("leaves the application's type parsers alone, and is left alone by them", async () => {
    const types = { getTypeParser: () => () => "parsed by the application" };
    const other = new pg.Client({ connectionString: url, types } as pg.ClientConfig);
    await other.connect();
    await other.query("begin");
    await store.enqueue({ type: "x", envelopeId: "typed" }, { tx: other });
    const again = await store.enqueue({ type: "x", envelopeId: "typed" }, { tx: other });
    expect(again).toMatchObject({ enqueued: false, entryId: "typed" });
    expect((await other.query("select 1 as one")).rows).toEqual([
      { one: "parsed by the application" },
    ]);
    await other.query("rollback");
    await other.end();
  });
});
