import type { EventMap } from "../contract/enqueue-input.js";
import type {
  InspectionFacet,
  RedriveFacet,
  RetentionFacet,
  SchemaFacet,
  WakeUpFacet,
} from "../contract/facets.js";
import type { OutboxClaimStore } from "../contract/outbox-claim-store.js";
import type { OutboxProducer, OutboxStore } from "../contract/outbox-store.js";
import type { StoreDriver } from "../contract/store-driver.js";

/** Options that every store has. */
export interface StoreOptions {
  /** CloudEvents `source` of envelopes that name none, a URI reference. @defaultValue `"/outbox"` */
  readonly source?: string | undefined;
}

type Part<Driver, Facet extends PropertyKey, Api> = Driver extends { readonly [K in Facet]: object }
  ? Api
  : unknown;

/** The transaction handle that a driver's `insert` takes; `never` where there is none to join. */
export type TransactionOf<Driver> =
  Driver extends StoreDriver<infer Transaction> ? Transaction : never;

/** The store that a driver makes: the contract, plus what its facets allow. */
export type DefinedStore<
  Driver extends StoreDriver<never>,
  Events extends EventMap = EventMap,
> = OutboxClaimStore &
  OutboxProducer<TransactionOf<Driver>, Events> &
  Part<Driver, "selection", OutboxStore<TransactionOf<Driver>, Events>> &
  Part<Driver, "inspection", InspectionFacet> &
  Part<Driver, "redrive", RedriveFacet> &
  Part<Driver, "retention", RetentionFacet> &
  Part<Driver, "schema", SchemaFacet> &
  Part<Driver, "wakeUp", WakeUpFacet>;

/**
 * Makes a store of a driver. Adds everything that is the same for every store: validation, ids,
 * payload encoding, the state machine, tokens, deadlines, retries, splitting of batches.
 */
export declare function defineStore<Driver extends StoreDriver<never>>(
  driver: Driver,
  options?: StoreOptions,
): DefinedStore<Driver>;
