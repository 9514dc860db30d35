import { memoryCapabilities, type StoreCapabilities } from "@outbox/core";
import { postgresCapabilities } from "@outbox/store-postgres";
import { sqsFifoCapabilities, sqsStandardCapabilities } from "@outbox/store-sqs";

const stores: readonly { readonly name: string; readonly capabilities: StoreCapabilities }[] = [
  { name: "PostgreSQL (`@outbox/store-postgres`)", capabilities: postgresCapabilities },
  { name: "SQS standard queue (`@outbox/store-sqs`)", capabilities: sqsStandardCapabilities },
  { name: "SQS FIFO queue (`@outbox/store-sqs`)", capabilities: sqsFifoCapabilities },
  { name: "memory (`@outbox/core`)", capabilities: memoryCapabilities },
];

const durability = { process: "no", durable: "yes", retention: "within retention" } as const;

const rows: readonly (readonly [string, (capabilities: StoreCapabilities) => string])[] = [
  ["durable", (one) => durability[one.durability]],
  ["enqueue in your transaction", (one) => yesNo(one.transactionalEnqueue)],
  ["fencing of stale workers", (one) => one.fencing],
  ["late completion, lease over but not re-claimed", (one) => one.lateCompletion],
  ["uniqueness of (envelopeId, destination)", (one) => one.entryUniqueness],
  ["counters", (one) => one.counters],
  ["claims in due order", (one) => one.selectionOrder],
  ["filter by type", (one) => one.typeFilter],
  ["a lost claim is found again", (one) => yesNo(one.claimReplay)],
  ["byte bound of a claim", (one) => one.byteBound],
  ["delivered entries kept", (one) => one.keepsDelivered],
  ["order per key", (one) => one.perKeyOrder],
  ["longest lease", (one) => duration(one.maxLeaseMs)],
  ["longest delay", (one) => duration(one.maxDelayMs)],
];

/** The README's table of stores, from what the stores declare. */
export function storeTable(): string {
  return [
    `| | ${stores.map(({ name }) => name).join(" | ")} |`,
    `| --- |${" --- |".repeat(stores.length)}`,
    ...rows.map(
      ([title, cell]) =>
        `| ${title} | ${stores.map(({ capabilities }) => cell(capabilities)).join(" | ")} |`,
    ),
  ].join("\n");
}

function yesNo(value: boolean): string {
  return value ? "yes" : "no";
}

function duration(ms: number | null): string {
  if (ms === 0) return "none";
  return ms === null ? "unbounded" : `${ms / 3_600_000} h`;
}
