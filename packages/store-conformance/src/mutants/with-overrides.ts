/** The object with some members replaced; what is not is left to the object itself, whatever its class. */
export function withOverrides<Target extends object>(target: Target, overrides: object): Target {
  return new Proxy(target, {
    get(original, property) {
      if (Object.hasOwn(overrides, property)) return Reflect.get(overrides, property);
      const value: unknown = Reflect.get(original, property, original);
      return typeof value === "function" ? value.bind(original) : value;
    },
  });
}
