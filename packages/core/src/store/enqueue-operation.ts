import type { EnqueueInput, EnqueueResult } from "../contract/enqueue-input.js";
import type {
  InsertedEntry,
  InsertTarget,
  NewEntry,
  StoreDriver,
} from "../contract/store-driver.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import {
  describeValue,
  refuseUnknownKeys,
  requireList,
  requireObject,
} from "../validation/argument-checks.js";
import { resolveEnqueueInput } from "../validation/resolve-enqueue-input.js";
import { brokenDriver } from "./broken-driver.js";
import type { StoreCalls } from "./store-calls.js";

/** The producer half of a store. */
export function enqueueOperation(driver: StoreDriver<never>, calls: StoreCalls, source: string) {
  return async (
    input: EnqueueInput | readonly EnqueueInput[],
    options?: unknown,
  ): Promise<EnqueueResult | readonly EnqueueResult[]> => {
    const target = resolveTarget(options, driver.capabilities.transactionalEnqueue);
    if (!Array.isArray(input)) {
      const entry = resolveEnqueueInput(input as never, "input", source, driver.capabilities);
      const [result] = await insert(driver, calls, [entry], target);
      if (result === undefined) throw brokenDriver(driver, "insert", "nothing");
      return result;
    }
    if (input.length === 0) return [];
    const entries = requireList("inputs", input, (argument, value) =>
      resolveEnqueueInput(value as never, argument, source, driver.capabilities),
    );
    return insert(driver, calls, entries, target);
  };
}

async function insert(
  driver: StoreDriver<never>,
  calls: StoreCalls,
  entries: readonly NewEntry[],
  target: InsertTarget<never>,
): Promise<readonly EnqueueResult[]> {
  const pairOf = (entry: NewEntry) =>
    JSON.stringify([entry.envelope.envelopeId, entry.destination]);
  const firstOfPair = new Map<string, NewEntry>();
  for (const entry of entries) {
    const pair = pairOf(entry);
    if (!firstOfPair.has(pair)) firstOfPair.set(pair, entry);
  }
  const distinct = [...firstOfPair.values()];
  const inserted = await write(driver, calls, distinct, target);
  const byPair = new Map(distinct.map((entry, index) => [pairOf(entry), inserted[index]]));
  return entries.map((entry) => {
    const result = byPair.get(pairOf(entry));
    if (result === undefined) throw brokenDriver(driver, "insert", "a missing result");
    return {
      entryId: result.entryId,
      envelopeId: entry.envelope.envelopeId,
      destination: entry.destination,
      enqueued: result.enqueued && firstOfPair.get(pairOf(entry)) === entry,
    };
  });
}

function write(
  driver: StoreDriver<never>,
  calls: StoreCalls,
  entries: readonly NewEntry[],
  target: InsertTarget<never>,
): Promise<readonly InsertedEntry[]> {
  if (target.tx === undefined) {
    // Unique by (envelopeId, destination), so a repeat after a lost reply writes nothing twice.
    return calls.run("enqueue", "always", () => driver.insert(entries, target));
  }
  // Inside the caller's transaction nothing is repeated, and the database's own error is passed on:
  // the caller's retry looks at it (40001, 1205) to decide whether to run the transaction again.
  calls.refuseIfClosed();
  return driver.insert(entries, target);
}

function resolveTarget(options: unknown, transactional: boolean): InsertTarget<never> {
  if (options === undefined && !transactional) return { autonomous: true };
  if (options === undefined) {
    throw new InvalidArgumentError(
      "options",
      "must name the business transaction: { tx }; to enqueue without one, say { autonomous: true }",
    );
  }
  const given = requireObject("options", options);
  refuseUnknownKeys("options", given, ["tx", "autonomous"]);
  const { tx, autonomous } = given;
  if (tx !== undefined && !transactional) {
    throw new InvalidArgumentError(
      "options.tx",
      "must be left out: this store cannot join a transaction (transactionalEnqueue: false), so a rollback would not undo the entry",
    );
  }
  if (autonomous !== undefined && autonomous !== true) {
    throw new InvalidArgumentError(
      "options.autonomous",
      `must be true, not ${describeValue(autonomous)}`,
    );
  }
  if (autonomous === true) {
    if (tx === undefined) return { autonomous };
    throw new InvalidArgumentError(
      "options.autonomous",
      "must not be given together with tx; choose one",
    );
  }
  if (!transactional) return { autonomous: true };
  if ((typeof tx !== "object" && typeof tx !== "function") || tx === null) {
    throw new InvalidArgumentError(
      "options.tx",
      `must be an open transaction, not ${describeValue(tx)}; to enqueue without one, say { autonomous: true }`,
    );
  }
  return { tx: tx as never };
}
