import type { StoreDriver } from "../contract/store-driver.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { describeValue, requireFunction, requireId, requireObject } from "./argument-checks.js";

const methods = ["insert", "claim", "complete", "extend", "classifyError", "close"] as const;

/** Checks what a driver's author may have left out; what its methods do is the conformance kit's. */
export function requireDriver(value: StoreDriver<never>): void {
  const driver = requireObject("driver", value);
  requireId("driver.name", driver["name"]);
  if (driver["contractVersion"] !== 1) {
    throw new InvalidArgumentError(
      "driver.contractVersion",
      `must be 1, not ${describeValue(driver["contractVersion"])}; install versions of the store and of @outbox/core that belong together`,
    );
  }
  requireObject("driver.capabilities", driver["capabilities"]);
  for (const method of methods) requireFunction(`driver.${method}`, driver[method]);
}
