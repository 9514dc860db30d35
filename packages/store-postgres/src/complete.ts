import type {
  DriverCompletion,
  DriverExtension,
  DriverTransition,
  OutboxClaim,
  OutboxEntry,
} from "@outbox/core";
import { rowToSummary } from "./row-to-entry.js";
import { completeStatement } from "./sql/complete.js";
import { extendResult, extendStatement } from "./sql/extend.js";
import { microsecondsToDate } from "./sql/instant.js";
import type { Row } from "./sql/statement.js";
import { transitionResult } from "./sql/write-transitions.js";
import { query, type StoreContext } from "./store-context.js";

export async function complete(
  context: StoreContext,
  completions: readonly DriverCompletion[],
): Promise<readonly DriverTransition[]> {
  return inLockOrder(
    completions,
    ({ claim }) => claim.entry.entryId,
    async (sorted) => {
      const statement = completeStatement(context.names, sorted, context.onDelivered);
      const rows = await query(context, statement);
      return rows.map((row, index) => toTransition(row, sorted[index]?.claim.entry));
    },
  );
}

export async function extend(
  context: StoreContext,
  claims: readonly OutboxClaim[],
  leaseDurationMs: number,
): Promise<readonly DriverExtension[]> {
  return inLockOrder(
    claims,
    ({ entry }) => entry.entryId,
    async (sorted) => {
      const rows = await query(context, extendStatement(context.names, sorted, leaseDurationMs));
      return rows.map((row) => {
        const outcome = row[extendResult.outcome] as DriverExtension["outcome"];
        const expiresAt = row[extendResult.claimExpiresAt];
        return {
          outcome,
          claimExpiresAt:
            outcome === "applied" && typeof expiresAt === "string"
              ? microsecondsToDate(expiresAt)
              : null,
        };
      });
    },
  );
}

/**
 * Runs a statement on items in the one order in which every batch takes its locks, so that two of
 * them cannot wait for each other; results in the order of `items`.
 */
async function inLockOrder<Item, Result>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  run: (sorted: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  if (items.length === 0) return [];
  const places = items.map((item, index) => ({ id: idOf(item), item, index }));
  // By code units, whatever the locale of this process.
  places.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const sortedResults = await run(places.map(({ item }) => item));
  const results: Result[] = [];
  places.forEach(({ index }, place) => {
    const result = sortedResults[place];
    if (result !== undefined) results[index] = result;
  });
  return results;
}

/**
 * A row of `completeStatement` or `saveStatement`.
 * @param read - gives the envelope, which never changes, to the entry as it stands
 */
export function toTransition(row: Row, read: OutboxEntry | undefined): DriverTransition {
  const outcome = row[transitionResult.outcome];
  const state = row[transitionResult.state];
  const at = microsecondsToDate(row[transitionResult.at] ?? "");
  if (outcome === "applied") return { outcome, at };
  const entry =
    typeof state === "string" && read !== undefined
      ? { ...rowToSummary(JSON.parse(state) as Row), envelope: read.envelope }
      : null;
  return outcome === "replayed"
    ? { outcome: "applied", replayed: true, at, entry }
    : { outcome: outcome as DriverTransition["outcome"], at, entry };
}
