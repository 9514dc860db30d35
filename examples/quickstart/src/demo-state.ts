import type { OutboxStats } from "@outbox/core";
import colors from "picocolors";
import { count, seconds } from "./print-ledger.js";
import type { ReceiverCounts } from "./receiver-ledger.js";

/** How things stand, while they run. */
export interface DemoState {
  readonly elapsedMs: number;
  readonly orderCount: number;
  readonly committed: number;
  readonly rolledBack: number;
  readonly outbox: OutboxStats;
  readonly receiver: ReceiverCounts;
  readonly workerNames: readonly string[];
  readonly killedWorker: string | null;
}

/** Entries that somebody still has to deliver. */
export function openCount({ outbox: { byStatus } }: DemoState): number {
  return byStatus.pending + byStatus.deferred + byStatus["retryable-failure"];
}

/** The state as a region of the terminal. */
export function describeState(state: DemoState): readonly string[] {
  const { outbox, receiver } = state;
  const delivered = outbox.byStatus.delivered;
  const placed = state.committed + state.rolledBack;
  return [
    "",
    `  orders     ${bar(placed / state.orderCount)} ${count(state.committed)} committed, ${count(state.rolledBack)} rolled back`,
    `  delivered  ${bar(delivered / Math.max(1, state.committed))} ${count(delivered)}, ${count(openCount(state))} waiting`,
    `  workers    ${state.workerNames.map((name) => describeWorker(name, state)).join("   ")}`,
    `  receiver   ${count(receiver.requests)} requests: ${count(receiver.refused)} refused, ${count(receiver.unanswered)} never answered, ${count(receiver.duplicates)} duplicates recognised`,
    colors.dim(`  ${seconds(state.elapsedMs)}   Ctrl-C stops everything and leaves nothing behind`),
  ];
}

/** The state as one line. */
export function summarizeState(state: DemoState): string {
  return `${seconds(state.elapsedMs).padStart(7)}  ${count(state.committed)} committed, ${count(state.rolledBack)} rolled back, ${count(state.outbox.byStatus.delivered)} delivered, ${count(openCount(state))} waiting`;
}

function describeWorker(name: string, { outbox, killedWorker }: DemoState): string {
  const held = outbox.leasedByOwner.find(({ owner }) => owner === name)?.count ?? 0;
  return name === killedWorker
    ? colors.red(`${name} killed`)
    : `${name} holds ${String(held).padStart(2)}`;
}

function bar(fraction: number): string {
  const width = 24;
  const full = Math.round(Math.min(1, fraction) * width);
  return colors.cyan("█".repeat(full)) + colors.dim("░".repeat(width - full));
}
