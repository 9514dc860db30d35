import type { CallerTransactions, NonTransaction } from "./caller-transactions.js";
import type { ClaimGate } from "./claim-gate.js";
import type { RawProbes } from "./raw-probes.js";
import type { StoreProcesses } from "./store-processes.js";
import type { StoreTime } from "./store-time.js";
import type { StoreUnderTest } from "./store-under-test.js";
import type { WrapDriver } from "./wrap-driver.js";

/**
 * What a store's package writes so that the kit can run on it: how to make an outbox, look into it
 * and disturb it.
 *
 * Optional parts are absent where the database cannot do them; cases that need one are then
 * reported as not run, with that reason. Everything else is an obligation.
 */
export interface StoreHarness {
  /**
   * A fresh, empty, migrated outbox that shares nothing with any other: isolate by a unique table
   * (or queue) name, not by cleaning up. Several may be in use at once.
   */
  createOutbox(options?: CreateOutboxOptions): Promise<OutboxUnderTest>;
  /** Frees what the harness holds (server, pools). Called once, after every outbox was closed. */
  close(): Promise<void>;
}

export interface CreateOutboxOptions {
  /**
   * Goes around the driver of every store that this outbox opens, before `defineStore`:
   * `defineStore(wrapDriver ? wrapDriver(driver) : driver)`. The kit's broken stores come this way.
   */
  readonly wrapDriver?: WrapDriver | undefined;
  /**
   * What becomes of delivered entries, where the store has the choice (`keepsDelivered: "option"`);
   * others ignore it.
   *
   * @defaultValue `"keep"`
   */
  readonly onDelivered?: "keep" | "delete" | undefined;
}

/** One outbox, and the ways into it. */
export interface OutboxUnderTest {
  /** A store on this outbox. The kit does not close it; `close` does. */
  readonly store: StoreUnderTest;
  /**
   * Another, independent store instance on the same outbox, over connections that it shares with
   * nobody. Closed by `close`, or earlier by the case that asked for it (twice is harmless).
   */
  openStore(): Promise<StoreUnderTest>;
  readonly raw: RawProbes;
  readonly time: StoreTime;

  /** Required with `capabilities.transactionalEnqueue`, absent otherwise. */
  readonly transactions?: CallerTransactions | undefined;
  /** Handles that the store can tell not to be an open transaction. Opened anew for each call. */
  nonTransactions?(): Promise<readonly NonTransaction[]>;
  readonly gate?: ClaimGate | undefined;
  /** Absent where an outbox cannot be reached from another process (memory). */
  readonly processes?: StoreProcesses | undefined;
  readonly connections?: StoreConnections | undefined;
  /** The same outbox through sessions that are set up differently: time zones, isolation levels. */
  readonly sessionVariants?: readonly SessionVariant[] | undefined;

  /** Closes every store of this outbox and drops it. Works while a gate is held or a transaction is open. */
  close(): Promise<void>;
}

/** The way to the database breaks. */
export interface StoreConnections {
  /**
   * Cuts every connection of `store` at once, as a crashed server or network does, and lets new
   * ones fail until `reconnect`. Raw probes and other stores keep working.
   */
  disconnect(): Promise<void>;
  reconnect(): Promise<void>;
}

export interface SessionVariant {
  /** E.g. `session time zone Pacific/Chatham`. */
  readonly name: string;
  openStore(): Promise<StoreUnderTest>;
}
