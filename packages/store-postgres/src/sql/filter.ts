import type { ResolvedEntryFilter } from "@outbox/core";
import { matchesTypes } from "./eligibility.js";
import { instantFromMilliseconds } from "./instant.js";
import type { Parameters } from "./statement.js";

/** The conditions of a filter, joined by `and`; `true` if it has none. */
export function matchesFilter(
  alias: string,
  parameters: Parameters,
  filter: ResolvedEntryFilter,
): string {
  const conditions: string[] = [];
  const isIn = (column: string, values: readonly string[] | null) => {
    if (values === null) return;
    conditions.push(`${alias}.${column} = any (${parameters.addArray(values, "text")})`);
  };
  const compare = (column: string, operator: ">=" | "<", value: Date | null) => {
    if (value === null) return;
    const instant = instantFromMilliseconds(parameters.add(value.getTime(), "float8"));
    conditions.push(`${alias}.${column} ${operator} ${instant}`);
  };
  isIn("entry_id", filter.entryIds);
  isIn("envelope_id", filter.envelopeIds);
  isIn("destination", filter.destinations);
  isIn("status", filter.statuses);
  isIn("ordering_key", filter.orderingKeys);
  if (filter.types !== null) {
    conditions.push(matchesTypes(`${alias}.type`, parameters, filter.types));
  }
  compare("created_at", ">=", filter.createdFrom);
  compare("created_at", "<", filter.createdBefore);
  compare("updated_at", ">=", filter.updatedFrom);
  compare("updated_at", "<", filter.updatedBefore);
  return conditions.length === 0 ? "true" : conditions.join(" and ");
}
