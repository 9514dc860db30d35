import type { StoreDriver } from "../contract/store-driver.js";
import { OutboxError } from "../errors/outbox-error.js";

/** A driver that breaks its contract must be noticed, not worked around. `outbox.broken_driver` */
export function brokenDriver(
  driver: StoreDriver<never>,
  operation: string,
  returned: string,
): OutboxError {
  return new OutboxError(
    "outbox.broken_driver",
    `the ${driver.name} driver's ${operation} returned ${returned}; run the conformance suite against it`,
  );
}
