import type { EntryFilter } from "../contract/facets.js";
import type { ResolvedEntryFilter } from "../contract/store-driver.js";
import { InvalidArgumentError } from "../errors/invalid-argument-error.js";
import {
  refuseUnknownKeys,
  requireId,
  requireInstant,
  requireList,
  requireObject,
  requireOneOf,
} from "./argument-checks.js";
import { parseTypePatterns } from "./type-patterns.js";

const conditions = [
  "entryIds",
  "envelopeIds",
  "destinations",
  "types",
  "statuses",
  "orderingKeys",
  "createdFrom",
  "createdBefore",
  "updatedFrom",
  "updatedBefore",
] as const satisfies readonly (keyof EntryFilter)[];

const statuses = [
  "pending",
  "delivered",
  "deferred",
  "failed",
  "retryable-failure",
  "dead-lettered",
] as const;

/** Checks a filter. An empty one is refused: "everything" must be said. */
export function resolveEntryFilter(argument: string, filter: EntryFilter): ResolvedEntryFilter {
  const given = requireObject(argument, filter);
  refuseUnknownKeys(argument, given, ["all", ...conditions]);
  const hasCondition = conditions.some((condition) => given[condition] !== undefined);
  if (filter.all !== undefined && filter.all !== true) {
    throw new InvalidArgumentError(`${argument}.all`, "must be true or left out");
  }
  if (filter.all === true && hasCondition) {
    throw new InvalidArgumentError(
      `${argument}.all`,
      "must not be given together with conditions; leave one of them out",
    );
  }
  if (filter.all === undefined && !hasCondition) {
    throw new InvalidArgumentError(
      argument,
      `must have a condition (${conditions.join(", ")}), or say { all: true }`,
    );
  }
  const ids = (key: "entryIds" | "envelopeIds" | "destinations" | "orderingKeys") =>
    filter[key] === undefined ? null : requireList(`${argument}.${key}`, filter[key], requireId);
  const instant = (key: "createdFrom" | "createdBefore" | "updatedFrom" | "updatedBefore") =>
    filter[key] === undefined ? null : requireInstant(`${argument}.${key}`, filter[key]);
  return {
    entryIds: ids("entryIds"),
    envelopeIds: ids("envelopeIds"),
    destinations: ids("destinations"),
    types: filter.types === undefined ? null : parseTypePatterns(`${argument}.types`, filter.types),
    statuses:
      filter.statuses === undefined
        ? null
        : requireList(`${argument}.statuses`, filter.statuses, (name, value) =>
            requireOneOf(name, value, statuses),
          ),
    orderingKeys: ids("orderingKeys"),
    createdFrom: instant("createdFrom"),
    createdBefore: instant("createdBefore"),
    updatedFrom: instant("updatedFrom"),
    updatedBefore: instant("updatedBefore"),
  };
}
