import type {
  EnqueueInput,
  EnqueueResult,
  InspectionFacet,
  OutboxClaimStore,
  OutboxStore,
  RedriveFacet,
  RetentionFacet,
  SchemaFacet,
  WakeUpFacet,
} from "@outbox/core";

/**
 * The store as the kit sees it: what every store has, and whatever facets this one has. Whether a
 * facet is there is read from the store itself, so a harness declares nothing twice. What
 * `defineStore` returns fits.
 */
export type StoreUnderTest = OutboxClaimStore &
  ProducerUnderTest &
  Partial<Omit<OutboxStore, "enqueue">> &
  Partial<InspectionFacet> &
  Partial<RedriveFacet> &
  Partial<RetentionFacet> &
  Partial<SchemaFacet> &
  Partial<WakeUpFacet>;

/** `OutboxProducer`, whatever its transaction handle is. */
export interface ProducerUnderTest {
  enqueue(input: EnqueueInput, options?: EnqueueOptionsUnderTest): Promise<EnqueueResult>;
  enqueue(
    inputs: readonly EnqueueInput[],
    options?: EnqueueOptionsUnderTest,
  ): Promise<readonly EnqueueResult[]>;
}

export type EnqueueOptionsUnderTest =
  | { readonly autonomous?: true; readonly tx?: never }
  | { readonly tx: unknown; readonly autonomous?: never };
