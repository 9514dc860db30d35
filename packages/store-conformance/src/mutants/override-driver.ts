import type { StoreDriver } from "@outbox/core";

/** The driver with some of its members replaced; the rest stays its own, whatever its class. */
export function overrideDriver<Driver extends StoreDriver<never>>(
  driver: Driver,
  overrides: Partial<StoreDriver<never>>,
): Driver {
  return new Proxy(driver, {
    get(target, property) {
      if (Object.hasOwn(overrides, property)) return Reflect.get(overrides, property);
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
