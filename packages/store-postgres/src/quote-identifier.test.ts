import { describe, expect, it } from "vitest";
import { outboxNames } from "./outbox-names.js";
import { quoteIdentifier, quoteLiteral } from "./quote-identifier.js";
import { arrayLiteral } from "./sql/statement.js";

describe("quoteIdentifier", () => {
  it.each([
    ["plain", '"plain"'],
    ["Upper Case", '"Upper Case"'],
    ['a"b', '"a""b"'],
    ["ü".repeat(31), `"${"ü".repeat(31)}"`],
  ])("quotes %s", (name, quoted) => {
    expect(quoteIdentifier("options.table", name)).toBe(quoted);
  });

  it.each([
    ["", /options\.table is empty/],
    ["a\u0000", /U\+0000/],
    ["\ud800", /lone surrogate/],
    ["ü".repeat(32), /of 64 bytes; PostgreSQL's limit is 63/],
  ])("refuses %j", (name, reason) => {
    expect(() => quoteIdentifier("options.table", name)).toThrow(reason);
  });
});

describe("quoteLiteral", () => {
  it.each([
    ["it's", "'it''s'"],
    ["a\\b", "E'a\\\\b'"],
    ["a\\'b", "E'a\\\\''b'"],
  ])("quotes %s", (text, quoted) => {
    expect(quoteLiteral(text)).toBe(quoted);
  });
});

describe("arrayLiteral", () => {
  it("quotes every text", () => {
    expect(arrayLiteral(["a", null, 'b"c', "d\\e", "NULL", "", "{,}", 1.5])).toBe(
      '{"a",NULL,"b\\"c","d\\\\e","NULL","","{,}",1.5}',
    );
    expect(arrayLiteral([])).toBe("{}");
  });
});

describe("outboxNames", () => {
  it("derives everything from schema and table", () => {
    expect(outboxNames()).toMatchObject({
      table: "outbox_entry",
      migrationTable: "outbox_entry_migration",
      enqueueFunction: "outbox_enqueue",
      channel: "outbox_public__outbox_entry",
      quoted: { table: '"public"."outbox_entry"' },
    });
    expect(outboxNames({ table: "billing" }).enqueueFunction).toBe("billing_enqueue");
  });

  it("refuses a table whose derived names would be cut off", () => {
    expect(() => outboxNames({ table: "t".repeat(51) })).toThrow(/options\.table makes the name/);
  });

  it("has a plain channel name for every outbox, and no two the same", () => {
    const names = [
      outboxNames(),
      outboxNames({ schema: "Public" }),
      outboxNames({ schema: "a_b", table: "c" }),
      outboxNames({ schema: "a", table: "b_c" }),
      outboxNames({ schema: "s".repeat(63), table: "t".repeat(40) }),
    ];
    for (const { channel } of names) expect(channel).toMatch(/^[a-z0-9_]{1,63}$/);
    expect(new Set(names.map(({ channel }) => channel)).size).toBe(names.length);
  });
});
