import type { StoreCapabilities } from "../contract/store-capabilities.js";
import type { StoreDriver, StoreErrorKind } from "../contract/store-driver.js";
import { createMemoryDriver, memoryCapabilities } from "../memory/memory-driver.js";
import { MemoryOutbox } from "../memory/memory-outbox.js";

/** What a test driver throws: an error that says itself of what kind it is. */
export class DriverFault extends Error {
  constructor(
    readonly kind: StoreErrorKind,
    message = `a ${kind} fault`,
  ) {
    super(message);
  }
}

type Overrides = Omit<Partial<StoreDriver<never>>, "capabilities"> & {
  readonly capabilities?: Partial<StoreCapabilities>;
};

/** The memory driver with parts replaced, which knows the kind of a `DriverFault`. */
export function testDriver(
  { capabilities, ...overrides }: Overrides = {},
  outbox = new MemoryOutbox(),
) {
  return {
    ...createMemoryDriver(outbox),
    name: "test",
    classifyError: (error: unknown): StoreErrorKind =>
      error instanceof DriverFault ? error.kind : "permanent",
    capabilities: { ...memoryCapabilities, ...capabilities },
    ...overrides,
  };
}
