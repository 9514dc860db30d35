import type { EncodedPayload, InsertedEntry } from "@outbox/core";
import type { Mutant } from "./mutant.js";
import { overrideDriver } from "./override-driver.js";

const hourMs = 3_600_000;

/** What jsonb does to an object's keys. */
function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => [key, withSortedKeys(member)]),
  );
}

function reserialised(payload: EncodedPayload): EncodedPayload {
  if (payload.format === "bytes") return payload;
  const text = JSON.stringify(withSortedKeys(JSON.parse(payload.text)));
  return { ...payload, text, byteLength: Buffer.byteLength(text) };
}

function throughText(payload: EncodedPayload): EncodedPayload {
  if (payload.format === "json") return payload;
  const bytes = new TextEncoder().encode(new TextDecoder().decode(payload.bytes));
  return { ...payload, bytes, byteLength: bytes.byteLength };
}

/** Stores that write entries wrongly. */
export const enqueueMutants: readonly Mutant[] = [
  {
    id: "enqueued-outside-the-transaction",
    description: "writes the entry at once instead of within the caller's transaction",
    killedBy: "A10-rolled-back-is-nothing",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: (entries) => driver.insert(entries, { autonomous: true }),
      }),
  },
  {
    id: "non-transaction-accepted",
    description: "enqueues on its own when the handle is no transaction",
    killedBy: "A10-not-a-transaction",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: (entries, target) =>
          driver.insert(entries, target).catch(() => driver.insert(entries, { autonomous: true })),
      }),
  },
  {
    id: "duplicate-is-an-error",
    description: "throws at a pair that exists already",
    killedBy: "A10-one-entry-per-pair",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: async (entries, target) => {
          const results = await driver.insert(entries, target);
          if (results.some(({ enqueued }) => !enqueued)) throw new Error("duplicate key");
          return results;
        },
      }),
  },
  {
    id: "duplicate-not-said",
    description: "reports a duplicate as enqueued",
    killedBy: "A10-one-entry-per-pair",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: async (entries, target) =>
          (await driver.insert(entries, target)).map((result) => ({ ...result, enqueued: true })),
      }),
  },
  {
    id: "pair-not-unique",
    description: "makes another entry of a pair that exists",
    killedBy: "A10-one-entry-per-pair",
    wrap: (driver) => {
      let count = 0;
      return overrideDriver(driver, {
        insert: (entries, target) =>
          driver.insert(
            entries.map((entry) => ({
              ...entry,
              entryId: `${entry.entryId}#${++count}`,
              destination: `${entry.destination}#${count}`,
            })),
            target,
          ),
      });
    },
  },
  {
    id: "duplicate-missed-at-higher-levels",
    description: "reports an entry as enqueued that another had enqueued meanwhile",
    killedBy: "A10-concurrent-duplicate-at-higher-levels",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: async (entries, target) => {
          const results = await driver.insert(entries, target).catch(() => null);
          return results ?? entries.map(({ entryId }) => ({ enqueued: true, entryId }));
        },
      }),
  },
  {
    id: "inserted-one-by-one",
    description: "writes the entries of one call one after the other",
    killedBy: "A10-entry-id-of-another",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: async (entries, target) => {
          const results: InsertedEntry[] = [];
          for (const entry of entries) results.push(...(await driver.insert([entry], target)));
          return results;
        },
      }),
  },
  {
    id: "ids-fold-case",
    description: "compares ids without regard to case",
    killedBy: "A10-look-alike-ids-are-different",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: (entries, target) =>
          driver.insert(
            entries.map((entry) => {
              const envelopeId = entry.envelope.envelopeId.toLowerCase();
              return { ...entry, envelope: { ...entry.envelope, envelopeId } };
            }),
            target,
          ),
      }),
  },
  {
    id: "payload-reserialised",
    description: "stores JSON as a value, so that keys come back in another order",
    killedBy: "A13-json-payloads",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: (entries, target) =>
          driver.insert(
            entries.map((entry) => ({ ...entry, payload: reserialised(entry.payload) })),
            target,
          ),
      }),
  },
  {
    id: "bytes-as-text",
    description: "stores bytes as if they were UTF-8",
    killedBy: "A13-bytes",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: (entries, target) =>
          driver.insert(
            entries.map((entry) => ({ ...entry, payload: throughText(entry.payload) })),
            target,
          ),
      }),
  },
  {
    id: "time-zone-added",
    description: "shifts instants by the session's time zone",
    killedBy: "A13-instants",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: (entries, target) =>
          driver.insert(
            entries.map((entry) => ({
              ...entry,
              available:
                entry.available !== null && "at" in entry.available
                  ? { at: new Date(entry.available.at.getTime() + hourMs) }
                  : entry.available,
            })),
            target,
          ),
      }),
  },
  {
    id: "host-clock-enqueue",
    description: "reckons the delay of a new entry from the producer's now",
    killedBy: "A12-delays-by-the-store",
    wrap: (driver) =>
      overrideDriver(driver, {
        insert: (entries, target) =>
          driver.insert(
            entries.map((entry) => ({
              ...entry,
              available:
                entry.available !== null && "inMs" in entry.available
                  ? { at: new Date(Date.now() + entry.available.inMs) }
                  : entry.available,
            })),
            target,
          ),
      }),
  },
];
