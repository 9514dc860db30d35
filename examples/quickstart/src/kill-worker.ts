import { setTimeout as delay } from "node:timers/promises";
import type { PostgresStore } from "@outbox/store-postgres";
import type { DemoProcess } from "./demo-processes.js";
import type { KillFacts } from "./ledger.js";
import { readEntries } from "./read-entries.js";

/** How often the outbox is looked at, in ms: the precision of the measured delays. */
const lookIntervalMs = 50;

/** How long after its lease a dead worker's claim may take to be claimed again, in ms. */
const graceMs = 2_000;

/**
 * Kills a worker without warning, and measures how long it takes until the others have claimed
 * everything that it held.
 */
export async function killWorker(
  store: PostgresStore,
  victim: DemoProcess,
  leaseDurationMs: number,
  signal: AbortSignal,
  onHeld: (heldCount: number) => void,
): Promise<KillFacts> {
  await victim.kill();
  const killedAt = performance.now();
  // What the worker had sent to the database before it died may still be carried out.
  await delay(200, undefined, { signal });
  const open = await readEntries(store, { statuses: ["pending", "deferred", "retryable-failure"] });
  const held = open.filter(({ claimOwner }) => claimOwner === victim.name);
  onHeld(held.length);

  const limitMs = leaseDurationMs + graceMs;
  const waiting = new Map(held.map((entry) => [entry.entryId, entry.claimAttemptCount]));
  const reclaimDelaysMs: number[] = [];
  const patienceMs = 2 * limitMs;
  while (waiting.size > 0 && performance.now() - killedAt < patienceMs) {
    await delay(lookIntervalMs, undefined, { signal });
    const now = await readEntries(store, { entryIds: [...waiting.keys()] });
    const delayMs = Math.round(performance.now() - killedAt);
    for (const { entryId, claimAttemptCount } of now) {
      if (claimAttemptCount > (waiting.get(entryId) ?? Number.POSITIVE_INFINITY)) {
        waiting.delete(entryId);
        reclaimDelaysMs.push(delayMs);
      }
    }
  }
  return {
    workerId: victim.name,
    heldCount: held.length,
    reclaimDelaysMs,
    leaseDurationMs,
    limitMs,
  };
}
