import type {
  DriverCompletion,
  DriverExtension,
  DriverTransition,
  OutboxClaim,
  OutboxEntry,
} from "@outbox/core";
import { rowToSummary } from "./row-to-entry.js";
import { completeResult, completeStatement } from "./sql/complete.js";
import { extendResult, extendStatement } from "./sql/extend.js";
import { microsecondsToDate } from "./sql/instant.js";
import type { Row } from "./sql/statement.js";
import { query, type StoreContext } from "./store-context.js";

export async function complete(
  context: StoreContext,
  completions: readonly DriverCompletion[],
): Promise<readonly DriverTransition[]> {
  if (completions.length === 0) return [];
  const rows = await query(
    context,
    completeStatement(context.names, completions, context.onDelivered),
  );
  return rows.map((row, index) => toTransition(row, completions[index]?.claim.entry));
}

export async function extend(
  context: StoreContext,
  claims: readonly OutboxClaim[],
  leaseDurationMs: number,
): Promise<readonly DriverExtension[]> {
  if (claims.length === 0) return [];
  const rows = await query(context, extendStatement(context.names, claims, leaseDurationMs));
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
}

/**
 * A row of `completeStatement` or `saveStatement`.
 * @param read - gives the envelope, which never changes, to the entry as it stands
 */
export function toTransition(row: Row, read: OutboxEntry | undefined): DriverTransition {
  const outcome = row[completeResult.outcome];
  const state = row[completeResult.state];
  const at = microsecondsToDate(row[completeResult.at] ?? "");
  if (outcome === "applied") return { outcome, at };
  const entry =
    typeof state === "string" && read !== undefined
      ? { ...rowToSummary(JSON.parse(state) as Row), envelope: read.envelope }
      : null;
  return outcome === "replayed"
    ? { outcome: "applied", replayed: true, at, entry }
    : { outcome: outcome as DriverTransition["outcome"], at, entry };
}
