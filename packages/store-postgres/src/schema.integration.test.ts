import { fork } from "node:child_process";
import { once } from "node:events";
import { deriveEntryId, InvalidArgumentError } from "@outbox/core";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { createPostgresStore, type PostgresStore } from "./create-postgres-store.js";
import { outboxNames } from "./outbox-names.js";
import { expectedColumns } from "./schema-shape.js";
import { useTestDatabase } from "./testing/test-database.js";

const database = useTestDatabase();
let count = 0;
const stores: PostgresStore[] = [];

function openStore(options: { readonly schema?: string; readonly table?: string } = {}) {
  count += 1;
  const store = createPostgresStore({
    pool: database.pool,
    table: `outbox_${count}`,
    ...options,
  });
  stores.push(store);
  return { store, names: outboxNames({ table: `outbox_${count}`, ...options }) };
}

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

describe("migrate", () => {
  it("applies what is missing, and nothing the second time", async () => {
    const { store } = openStore();
    expect(await store.migrate()).toEqual({ from: 0, to: 1 });
    expect(await store.migrate()).toEqual({ from: 1, to: 1 });
    expect(await store.checkSchema()).toEqual({
      ok: true,
      version: 1,
      expectedVersion: 1,
      problems: [],
    });
  });

  it("may be run by any number at once", async () => {
    const { store, names } = openStore();
    const others = Array.from({ length: 8 }, () =>
      createPostgresStore({ connectionString: database.url, table: names.table }),
    );
    const reports = await Promise.all([store, ...others].map((one) => one.migrate()));
    expect(reports.filter(({ from }) => from === 0)).toHaveLength(1);
    expect(reports.every(({ to }) => to === 1)).toBe(true);
    await Promise.all(others.map((one) => one.close()));
  });

  it("may be run by two processes at once", async () => {
    const { store, names } = openStore();
    const migrateElsewhere = async () => {
      const child = fork(new URL("./testing/migrate-process.ts", import.meta.url), {
        execArgv: ["--import", "tsx", "--conditions", "@outbox/source"],
        env: { ...process.env, OUTBOX_URL: database.url, OUTBOX_TABLE: names.table },
      });
      const [code] = await once(child, "exit");
      return code;
    };
    expect(await Promise.all([migrateElsewhere(), migrateElsewhere()])).toEqual([0, 0]);
    expect(await store.checkSchema()).toMatchObject({ ok: true });
  });

  it("leaves nothing behind when it fails half-way", async () => {
    const { store, names } = openStore();
    // In the way of the last thing that the migration creates.
    await database.pool.query(
      `create function ${names.quoted.enqueueFunction}(a text, b json, c bytea, d text, e text, f text, g text, h text, i timestamptz, j text, k text, l text, m json, n timestamptz, o interval, p boolean) returns text language sql as 'select a'`,
    );
    await expect(store.migrate()).rejects.toMatchObject({ code: "outbox.store_error" });
    expect(await store.checkSchema()).toMatchObject({ ok: false, version: 0 });
    await database.pool.query(`drop function ${names.quoted.enqueueFunction}`);
    expect(await store.migrate()).toEqual({ from: 0, to: 1 });
  });

  it("works on a single client, and refuses one inside a transaction", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const store = createPostgresStore({ client, table: "on_a_client" });
    await client.query("begin");
    await expect(store.migrate()).rejects.toMatchObject({ code: "outbox.client_in_transaction" });
    await client.query("rollback");
    expect(await store.migrate()).toEqual({ from: 0, to: 1 });
    await store.close();
    await client.end();
  });

  it("needs no right to create anything once it is done", async () => {
    const { store, names } = openStore();
    await store.migrate();
    await database.pool.query(`create role plain_${count} login password 'plain'`);
    await database.pool.query(
      `grant select on ${names.quoted.table}, ${names.quoted.migrationTable} to plain_${count}`,
    );
    const url = new URL(database.url);
    url.username = `plain_${count}`;
    url.password = "plain";
    const plain = createPostgresStore({ connectionString: url.href, table: names.table });
    expect(await plain.migrate()).toEqual({ from: 1, to: 1 });
    await plain.close();
    await database.pool.query(`drop owned by plain_${count}; drop role plain_${count}`);
  });

  it("quotes any name", async () => {
    const schema = `We"ird schema; ${"ü".repeat(4)}`;
    await database.pool.query(`create schema ${pg.escapeIdentifier(schema)}`);
    const { store } = openStore({ schema, table: `select "from'` });
    await store.migrate();
    expect(await store.checkSchema()).toMatchObject({ ok: true });
    await store.enqueue([{ type: "x" }, { type: "y" }], { autonomous: true });
    const { claims } = await store.claim({ workerId: "w", claimId: "c" });
    expect(claims).toHaveLength(2);
    await store.completeClaims(claims.map((claim) => ({ claim, kind: "delivered" })));
    expect((await store.stats({ exact: true })).byStatus.delivered).toBe(2);
    const codes = (await store.diagnose()).map(({ code }) => code);
    expect(codes.filter((code) => code === "outbox.doctor.schema")).toEqual([]);
    expect(await store.purge({ status: "delivered", olderThanMs: 0 })).toEqual({ count: 2 });
  });

  it("refuses a name that PostgreSQL would cut off", () => {
    expect(() => openStore({ table: "t".repeat(60) })).toThrow(InvalidArgumentError);
    expect(() => openStore({ schema: "" })).toThrow(/options\.schema is empty/);
    expect(() => openStore({ schema: "a\u0000b" })).toThrow(/U\+0000/);
  });
});

describe("migrationSql", () => {
  it("is what migrate applies", async () => {
    const { store } = openStore();
    await database.pool.query(store.migrationSql());
    expect(await store.checkSchema()).toMatchObject({ ok: true });
    expect(await store.migrate()).toEqual({ from: 1, to: 1 });
  });

  it("is empty where there is nothing to do, and refuses versions that are not there", () => {
    const { store } = openStore();
    expect(store.migrationSql({ from: 1 })).toBe("");
    expect(() => store.migrationSql({ to: 99 })).toThrow(/range\.to must be a version from 0/);
  });
});

describe("checkSchema", () => {
  it("knows every column of the table", async () => {
    const { store, names } = openStore();
    await store.migrate();
    const { rows } = await database.pool.query(
      "select column_name from information_schema.columns where table_name = $1",
      [names.table],
    );
    expect(rows.map((row) => row.column_name).sort()).toEqual(Object.keys(expectedColumns).sort());
  });

  it("names what is missing, with the remedy", async () => {
    const { store, names } = openStore();
    expect(await store.checkSchema()).toMatchObject({
      ok: false,
      version: 0,
      problems: [expect.stringMatching(/is not there: run store\.migrate\(\)/)],
    });
    await store.migrate();
    const { table } = names.quoted;
    await database.pool.query(`alter table ${table} drop column redrive_reason`);
    await database.pool.query(`alter table ${table} alter column metadata type text`);
    await database.pool.query(`drop index ${names.quoted.index("ready")}`);
    await database.pool.query(
      `update pg_index set indisvalid = false where indexrelid = '${names.quoted.index("settled")}'::regclass`,
    );
    await database.pool.query(`drop function ${names.quoted.enqueueFunction}`);
    expect((await store.checkSchema()).problems).toEqual([
      expect.stringMatching(/column .*metadata is text and should be json/),
      expect.stringMatching(/column .*redrive_reason is missing/),
      expect.stringMatching(/index outbox_\d+_ready .* is missing/),
      expect.stringMatching(/index outbox_\d+_settled .* is invalid.*REINDEX/),
      expect.stringMatching(/function .*_enqueue is missing/),
    ]);
  });

  it("is pointed to by whatever fails for want of the schema", async () => {
    const { store } = openStore();
    const missing = {
      code: "outbox.schema_missing",
      message: expect.stringMatching(/migrate\(\)/),
    };
    await expect(store.claim({ workerId: "w" })).rejects.toMatchObject(missing);
    await expect(store.enqueue({ type: "x" }, { autonomous: true })).rejects.toMatchObject(missing);
    await expect(store.stats()).rejects.toMatchObject(missing);
  });
});

describe("the SQL function", () => {
  const awkward = [
    "plain",
    "order@example.com",
    "100%",
    "%40@%25",
    "ü".repeat(200),
    "x".repeat(255),
    "@".repeat(255),
    "😀".repeat(127),
    `${"😀".repeat(100)}@`,
    "0190a6e2-7b0c-7000-8000-000000000000",
  ];

  it("derives the same entry ids as core", async () => {
    const { store, names } = openStore();
    await store.migrate();
    for (const envelopeId of awkward) {
      for (const destination of ["default", "billing", "a@b%", "d".repeat(120)]) {
        const { rows } = await database.pool.query(
          `select ${names.quoted.enqueueFunction}(type => 'x', envelope_id => $1, destination => $2) as id`,
          [envelopeId, destination],
        );
        expect(rows[0].id).toBe(deriveEntryId(envelopeId, destination));
        const again = await store.enqueue(
          { type: "x", envelopeId, destination },
          { autonomous: true },
        );
        expect(again).toMatchObject({ enqueued: false, entryId: rows[0].id });
      }
    }
  });

  it("writes what the store's enqueue writes", async () => {
    const { store, names } = openStore();
    await store.migrate();
    const call = `select ${names.quoted.enqueueFunction}(`;
    await database.pool.query(
      `${call}type => 'order.placed', payload => '{"b": 1, "a": "\\u0000"}', subject => 's',
        metadata => '{"k":"v"}', occurred_at => '2024-01-02T03:04:05.678Z', source => '/sql',
        data_schema => 'urn:x', traceparent => '00-a-b-01')`,
    );
    await database.pool.query(`${call}type => 'blob', payload_binary => '\\x00ff')`);
    await database.pool.query(`${call}type => 'later', available_in => interval '1 hour')`);
    const { entries } = await store.list({ all: true });
    expect(entries).toMatchObject([
      {
        envelope: {
          type: "order.placed",
          source: "/sql",
          subject: "s",
          dataContentType: "application/json",
          dataSchema: "urn:x",
          traceparent: "00-a-b-01",
          time: new Date("2024-01-02T03:04:05.678Z"),
        },
        metadata: { k: "v" },
        payloadBytes: 23,
      },
      { envelope: { dataContentType: "application/octet-stream" }, payloadBytes: 2 },
      { status: "pending", payloadBytes: 4 },
    ]);
    const { claims } = await store.claim({ workerId: "w" });
    expect(claims.map(({ entry }) => entry.envelope.payload)).toEqual([
      { b: 1, a: "\u0000" },
      new Uint8Array([0, 255]),
    ]);
  });

  it("works in a trigger, and is rolled back with what caused it", async () => {
    const { store, names } = openStore();
    await store.migrate();
    await database.pool.query(`
      create table invoice_${count} (id text);
      create function invoice_${count}_event() returns trigger language plpgsql as $$
      begin
        perform ${names.quoted.enqueueFunction}(
          type => 'invoice.issued', payload => to_json(new), envelope_id => 'invoice ' || new.id
        );
        return new;
      end $$;
      create trigger event after insert on invoice_${count}
        for each row execute function invoice_${count}_event();
    `);
    await database.pool.query(`insert into invoice_${count} values ('1'), ('2')`);
    await database.pool.query(`begin; insert into invoice_${count} values ('3'); rollback`);
    const { claims } = await store.claim({ workerId: "w" });
    expect(claims.map(({ entry }) => entry.envelope.payload)).toEqual([{ id: "1" }, { id: "2" }]);
  });

  it("refuses what the store's enqueue refuses", async () => {
    const { store, names } = openStore();
    await store.migrate();
    const refused: readonly [string, RegExp][] = [
      ["type => ''", /type must be given/],
      ["type => repeat('x', 256)", /type must have at most 255/],
      ["type => 'x', envelope_id => repeat('😀', 128)", /envelope_id must have at most 255/],
      ["type => 'x', payload => '1', payload_binary => ''", /payload or payload_binary, not both/],
      ["type => 'x', available_at => now(), available_in => '1 s'", /not both/],
    ];
    for (const [argument, message] of refused) {
      await expect(
        database.pool.query(`select ${names.quoted.enqueueFunction}(${argument})`),
      ).rejects.toThrow(message);
    }
    await database.pool.query(
      `select ${names.quoted.enqueueFunction}(type => 'x', envelope_id => 'a', entry_id => 'mine')`,
    );
    await expect(
      database.pool.query(
        `select ${names.quoted.enqueueFunction}(type => 'x', envelope_id => 'b', entry_id => 'mine')`,
      ),
    ).rejects.toThrow(/entry_id mine belongs to an entry with another/);
  });
});

describe("sequences past 2^31 and 2^53", () => {
  it.each([2n ** 31n - 1n, 2n ** 53n - 1n, 2n ** 62n])("work from %s", async (start) => {
    const { store, names } = openStore();
    await store.migrate();
    await database.pool.query(
      `alter table ${names.quoted.table} alter column seq restart with ${start}`,
    );
    const envelopeIds = ["a", "b", "c", "d", "e"];
    await store.enqueue(
      envelopeIds.map((envelopeId) => ({ type: "x", envelopeId })),
      { autonomous: true },
    );
    const first = await store.claim({ workerId: "w", maxCount: 2, claimId: "first" });
    expect(first.claims.map(({ claimToken }) => claimToken.split(":")[1])).toEqual([
      String(start),
      String(start + 1n),
    ]);
    const again = await store.claim({ workerId: "w", maxCount: 2, claimId: "first" });
    expect(again.claims.map(({ claimToken }) => claimToken)).toEqual(
      first.claims.map(({ claimToken }) => claimToken),
    );
    const second = await store.claim({ workerId: "w", maxCount: 2, after: first.cursor });
    const third = await store.claim({ workerId: "w", maxCount: 2, after: second.cursor });
    const claims = [...first.claims, ...second.claims, ...third.claims];
    expect(claims.map(({ entry }) => entry.entryId)).toEqual(envelopeIds);
    expect(new Set(claims.map(({ claimToken }) => claimToken)).size).toBe(5);
    const transitions = await store.completeClaims(
      claims.map((claim) => ({ claim, kind: "delivered" })),
    );
    expect(transitions.map(({ outcome }) => outcome)).toEqual(Array(5).fill("applied"));
    const page = await store.list({ all: true }, { maxCount: 3 });
    const rest = await store.list({ all: true }, { maxCount: 3, after: page.cursor });
    expect([...page.entries, ...rest.entries].map(({ entryId }) => entryId)).toEqual(envelopeIds);
  });
});
