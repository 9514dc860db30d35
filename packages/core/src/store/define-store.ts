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
import { systemTiming, type Timing } from "../timing/timing.js";
import { refuseUnknownKeys, requireId, requireObject } from "../validation/argument-checks.js";
import { requireDriver } from "../validation/require-driver.js";
import { claimOperations } from "./claim-operations.js";
import { enqueueOperation } from "./enqueue-operation.js";
import {
  inspectionOperations,
  redriveOperations,
  retentionOperations,
  schemaOperations,
  wakeUpOperations,
} from "./facet-operations.js";
import { selectionOperations } from "./selection-operations.js";
import { StoreCalls } from "./store-calls.js";

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
export function defineStore<Driver extends StoreDriver<never>>(
  driver: Driver,
  options: StoreOptions = {},
): DefinedStore<Driver> {
  return defineStoreWithTiming(driver, options, systemTiming);
}

/** For core's own tests, where hours pass in milliseconds. */
export function defineStoreWithTiming<Driver extends StoreDriver<never>>(
  driver: Driver,
  options: StoreOptions,
  timing: Timing,
): DefinedStore<Driver> {
  requireDriver(driver);
  refuseUnknownKeys("options", requireObject("options", options), ["source"]);
  const source =
    options.source === undefined ? "/outbox" : requireId("options.source", options.source);
  const calls = new StoreCalls(driver);
  const { selection, inspection, redrive, retention, schema, wakeUp } = driver;
  const store = {
    contractVersion: driver.contractVersion,
    storeName: driver.name,
    capabilities: driver.capabilities,
    enqueue: enqueueOperation(driver, calls, source),
    ...claimOperations(driver, calls, timing),
    ...(selection && selectionOperations(selection, calls)),
    ...(inspection && inspectionOperations(inspection, calls)),
    ...(redrive && redriveOperations(redrive, calls)),
    ...(retention && retentionOperations(retention, calls)),
    ...(schema && schemaOperations(schema, calls)),
    ...(wakeUp && wakeUpOperations(wakeUp, calls)),
    close: () => calls.close(),
    [Symbol.asyncDispose]: () => calls.close(),
  };
  // The facets that are present here are those that the driver's type names.
  return store as unknown as DefinedStore<Driver>;
}
