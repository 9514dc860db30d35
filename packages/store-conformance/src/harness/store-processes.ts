import type { RawProbes } from "./raw-probes.js";
import type { StoreUnderTest } from "./store-under-test.js";
import type { WrapDriver } from "./wrap-driver.js";

/**
 * How another OS process opens the same outbox. The kit starts its own script in that process,
 * which imports `module` and calls its `openStore`.
 */
export interface StoreProcesses {
  /** URL of an ES module that fits `StoreProcessModule`, e.g. `new URL("./open-store.js", import.meta.url).href`. */
  readonly module: string;
  /** What `openStore` gets; must survive JSON: connection settings, the table's name. */
  readonly args: unknown;
  /**
   * Node.js flags of the process, e.g. `["--import", "tsx"]` where `module` is TypeScript.
   *
   * @defaultValue none
   */
  readonly execArgv?: readonly string[];
}

/** The module's exports. */
export interface StoreProcessModule {
  /** Opens the store on the outbox that `args` describes, with `wrapDriver` around its driver if given. */
  openStore(
    args: unknown,
    options: { readonly wrapDriver: WrapDriver | undefined },
  ): Promise<StoreUnderTest>;
  /**
   * Raw probes on the same outbox, with `writeEntry`. Needed only to run broken stores in several
   * processes; left out, the broken stores that race are tried within one process alone.
   */
  openRaw?(args: unknown): Promise<RawProbes>;
}
