import type { EventMap } from "../contract/enqueue-input.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { OutboxError } from "../errors/outbox-error.js";
import { type DefinedStore, defineStore, type StoreOptions } from "../store/define-store.js";
import { describeValue, requireBoolean, requireObject } from "../validation/argument-checks.js";
import { createMemoryDriver } from "./memory-driver.js";
import { MemoryOutbox } from "./memory-outbox.js";

export interface MemoryStoreOptions extends StoreOptions {
  /** Shared by stores that are to see the same entries. @defaultValue a new one */
  readonly outbox?: MemoryOutbox | undefined;
  /** Everything is gone with the process, so production must be asked for. @defaultValue false */
  readonly allowInProduction?: boolean | undefined;
}

export type MemoryStore<Events extends EventMap = EventMap> = DefinedStore<
  ReturnType<typeof createMemoryDriver>,
  Events
>;

/** The reference store, for tests and for trying things out. One process; nothing is durable. */
export function createMemoryStore<Events extends EventMap = EventMap>(
  options: MemoryStoreOptions = {},
): MemoryStore<Events> {
  requireObject("options", options);
  const { outbox = new MemoryOutbox(), allowInProduction = false, ...rest } = options;
  requireBoolean("options.allowInProduction", allowInProduction);
  if (!(outbox instanceof MemoryOutbox)) {
    throw new InvalidArgumentError(
      "options.outbox",
      `must be a MemoryOutbox, not ${describeValue(outbox)}`,
    );
  }
  if (process.env["NODE_ENV"] === "production" && !allowInProduction) {
    throw new OutboxError(
      "outbox.memory_in_production",
      "createMemoryStore() loses everything with the process and refuses NODE_ENV=production; use a store package, or pass { allowInProduction: true } if losing entries is acceptable",
    );
  }
  return defineStore(createMemoryDriver(outbox), rest) as MemoryStore<Events>;
}
