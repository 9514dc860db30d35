import type { ClaimCommand, TypeFilter } from "@outbox/core";
import type { Parameters } from "./statement.js";

/** In the *ready* index: nobody's, never abandoned. Word for word its predicate. */
export function isReady(alias: string): string {
  return `${alias}.visible_at is not null and ${alias}.claim_token is null and ${alias}.abandoned_claim_count = 0`;
}

/** In the *leased* index; of those, the due ones are the suspects. Word for word its predicate. */
export function isLeasedOrSuspect(alias: string): string {
  return `${alias}.visible_at is not null and (${alias}.claim_token is not null or ${alias}.abandoned_claim_count > 0)`;
}

/** Conditions on kind and type, with a leading `and`; empty if everything is wanted. */
export function isWanted(
  alias: string,
  parameters: Parameters,
  { kind, types }: Pick<ClaimCommand, "kind" | "types">,
): string {
  // Parked and terminal entries have no due time, so `any` needs no condition.
  const byKind = {
    any: "",
    pending: ` and ${alias}.status = 'pending'`,
    "retry-ready": ` and ${alias}.status in ('deferred', 'retryable-failure')`,
  }[kind];
  return types === null
    ? byKind
    : `${byKind} and ${matchesTypes(`${alias}.type`, parameters, types)}`;
}

/** `^@` is "starts with": no pattern characters to escape. */
export function matchesTypes(
  column: string,
  parameters: Parameters,
  { exact, prefixes }: TypeFilter,
): string {
  return `(${column} = any (${parameters.addArray(exact, "text")}) or ${column} ^@ any (${parameters.addArray(prefixes, "text")}))`;
}
