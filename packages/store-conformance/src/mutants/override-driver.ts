import type { StoreDriver } from "@outbox/core";
import { withOverrides } from "./with-overrides.js";

/** The driver with some of its members replaced; the rest stays its own, whatever its class. */
export function overrideDriver<Driver extends StoreDriver<never>>(
  driver: Driver,
  overrides: Partial<StoreDriver<never>>,
): Driver {
  return withOverrides(driver, overrides);
}
