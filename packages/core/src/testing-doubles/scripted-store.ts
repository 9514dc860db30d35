import type { OutboxClaimStore } from "../contract/outbox-claim-store.js";
import type { StoreFault } from "./store-fault.js";

type Operation = "claim" | "completeClaims" | "extendClaims";

/** A claim store whose next calls, or all of them, go wrong as the test says; counts them all. */
export class ScriptedStore<Store extends OutboxClaimStore> {
  readonly store: Store;
  readonly calls = { claim: 0, completeClaims: 0, extendClaims: 0 };
  readonly #next: Record<Operation, StoreFault[]> = {
    claim: [],
    completeClaims: [],
    extendClaims: [],
  };
  readonly #always: Partial<Record<Operation, StoreFault>> = {};

  constructor(store: Store) {
    this.store = {
      ...store,
      claim: (...given) => this.#run("claim", () => store.claim(...given)),
      completeClaims: (...given) =>
        this.#run("completeClaims", () => store.completeClaims(...given)),
      extendClaims: (...given) => this.#run("extendClaims", () => store.extendClaims(...given)),
    };
  }

  /** What happens to the next calls, one fault each. */
  next(operation: Operation, ...faults: readonly StoreFault[]): void {
    this.#next[operation].push(...faults);
  }

  /** What happens to every call from now on; `null`: nothing special. */
  always(operation: Operation, fault: StoreFault | null): void {
    if (fault === null) delete this.#always[operation];
    else this.#always[operation] = fault;
  }

  /** Nothing works, or everything again. */
  outage(fault: StoreFault | null): void {
    for (const operation of ["claim", "completeClaims", "extendClaims"] as const) {
      this.always(operation, fault);
    }
  }

  #run<Result>(operation: Operation, call: () => Promise<Result>): Promise<Result> {
    this.calls[operation] += 1;
    const fault = this.#next[operation].shift() ?? this.#always[operation];
    return fault === undefined ? call() : fault(call);
  }
}
