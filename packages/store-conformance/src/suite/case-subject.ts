import type { StoreCapabilities } from "@outbox/core";
import type { OutboxUnderTest } from "../harness/store-harness.js";
import type { StoreTime } from "../harness/store-time.js";
import type { StoreUnderTest } from "../harness/store-under-test.js";

/** The optional interfaces of a store, by the method that shows each one's presence. */
export const facetMethods = {
  selection: [
    "findByOutboxEntryId",
    "findPending",
    "findRetryReady",
    "markDelivered",
    "markFailed",
    "markDeadLettered",
    "save",
  ],
  inspection: ["list", "show", "stats"],
  redrive: ["redrive"],
  retention: ["purge"],
  schema: ["migrate", "migrationSql", "checkSchema", "diagnose"],
  wakeUp: ["subscribe"],
} as const satisfies Record<string, readonly (keyof StoreUnderTest)[]>;

export type FacetName = keyof typeof facetMethods;

/** The optional parts of a harness. */
export const harnessParts = [
  "transactions",
  "nonTransactions",
  "gate",
  "processes",
  "connections",
  "sessionVariants",
] as const satisfies readonly (keyof OutboxUnderTest)[];

export type HarnessPart = (typeof harnessParts)[number];

/** What a case decides by whether it runs: nothing but what is declared and what is there. */
export interface CaseSubject {
  readonly capabilities: StoreCapabilities;
  readonly facets: ReadonlySet<FacetName>;
  readonly harness: ReadonlySet<HarnessPart>;
  readonly timeMode: StoreTime["mode"];
  /** Two transactions of a caller can write at the same time. */
  readonly concurrentTransactions: boolean;
}

export function describeSubject(
  outbox: OutboxUnderTest,
  capabilities: StoreCapabilities,
): CaseSubject {
  return {
    capabilities,
    facets: new Set(
      (Object.keys(facetMethods) as FacetName[]).filter((facet) =>
        facetMethods[facet].some((method) => outbox.store[method] !== undefined),
      ),
    ),
    harness: new Set(
      harnessParts.filter((part) => {
        const value = outbox[part];
        return Array.isArray(value) ? value.length > 0 : value !== undefined;
      }),
    ),
    timeMode: outbox.time.mode,
    concurrentTransactions: outbox.transactions?.concurrent ?? false,
  };
}
