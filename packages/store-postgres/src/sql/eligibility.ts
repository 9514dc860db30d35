import type { ClaimCommand, TypeFilter } from "@outbox/core";
import type { Parameters } from "./statement.js";

/**
 * Hides a condition from the planner's statistics: it takes COALESCE for half of the rows.
 *
 * What is ready changes from nothing to a million within minutes, so statistics are always of
 * another time. Where they said "few", a claim was planned as a bitmap scan of all that is due with
 * a sort of it; for "half of the table", the ordered index scan that ends at its limit always wins.
 */
export function opaque(condition: string): string {
  return `coalesce(${condition}, false)`;
}

const ready = (alias: string) =>
  `${alias}visible_at is not null and ${alias}claim_token is null and ${alias}abandoned_claim_count = 0`;

const leasedOrSuspect = (alias: string) =>
  `${alias}visible_at is not null and (${alias}claim_token is not null or ${alias}abandoned_claim_count > 0)`;

/** The predicates of the two partial indexes; part of migration 1, so never to be changed. */
export const readyPredicate = opaque(ready(""));
export const leasedPredicate = opaque(leasedOrSuspect(""));

/** In the *ready* index: nobody's, never abandoned. Word for word its predicate. */
export function isReady(alias: string): string {
  return opaque(ready(`${alias}.`));
}

/** In the *leased* index; of those, the due ones are the suspects. Word for word its predicate. */
export function isLeasedOrSuspect(alias: string): string {
  return opaque(leasedOrSuspect(`${alias}.`));
}

/** The same two for statements that read all of it, where the statistics are welcome. */
export function isReadyCounted(alias: string): string {
  return `${isReady(alias)} and ${ready(`${alias}.`)}`;
}

export function isLeasedOrSuspectCounted(alias: string): string {
  return `${isLeasedOrSuspect(alias)} and ${leasedOrSuspect(`${alias}.`)}`;
}

/** Conditions on kind and type, with a leading `and`; empty if everything is wanted. */
export function isWanted(
  alias: string,
  parameters: Parameters,
  { kind, types }: Pick<ClaimCommand, "kind" | "types">,
): string {
  const conditions = [];
  // Parked and terminal entries have no due time, so `any` needs no condition.
  if (kind === "pending") conditions.push(opaque(`${alias}.status = 'pending'`));
  if (kind === "retry-ready") conditions.push(opaque(`${alias}.status <> 'pending'`));
  if (types !== null) conditions.push(opaque(matchesTypes(`${alias}.type`, parameters, types)));
  return conditions.map((condition) => ` and ${condition}`).join("");
}

/** `^@` is "starts with": no pattern characters to escape. */
export function matchesTypes(
  column: string,
  parameters: Parameters,
  { exact, prefixes }: TypeFilter,
): string {
  return `(${column} = any (${parameters.addArray(exact, "text")}) or ${column} ^@ any (${parameters.addArray(prefixes, "text")}))`;
}
