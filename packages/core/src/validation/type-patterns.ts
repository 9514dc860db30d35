import type { TypeFilter } from "../contract/store-driver.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import { requireId, requireList } from "./argument-checks.js";

/** Checks one type pattern: `order.placed`, `order.*`, or `*`. */
export function requireTypePattern(argument: string, value: unknown): string {
  const pattern = requireId(argument, value);
  const star = pattern.indexOf("*");
  if (star === -1 || pattern === "*" || (star === pattern.length - 1 && pattern.endsWith(".*"))) {
    return pattern;
  }
  throw new InvalidArgumentError(
    argument,
    `is ${JSON.stringify(pattern)}; a star may only stand alone ("*") or as the last part ("order.*")`,
  );
}

/** Patterns as drivers take them; `null` when every type matches. */
export function parseTypePatterns(argument: string, value: unknown): TypeFilter | null {
  const patterns = requireList(argument, value, requireTypePattern);
  if (patterns.includes("*")) return null;
  return {
    exact: patterns.filter((pattern) => !pattern.endsWith("*")),
    prefixes: patterns
      .filter((pattern) => pattern.endsWith("*"))
      .map((pattern) => pattern.slice(0, -1)),
  };
}

export function matchesTypeFilter(filter: TypeFilter | null, type: string): boolean {
  return (
    filter === null ||
    filter.exact.includes(type) ||
    filter.prefixes.some((prefix) => type.startsWith(prefix))
  );
}
