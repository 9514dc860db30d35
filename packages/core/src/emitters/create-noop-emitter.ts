import type { Emitter } from "../contract/emitter.js";

/** An emitter that sends nothing and says delivered: for dry runs, benchmarks, and switching a route off. */
export function createNoopEmitter(): Emitter {
  return { emit: () => ({ status: "delivered" }) };
}
