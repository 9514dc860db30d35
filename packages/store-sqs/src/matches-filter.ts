import type { OutboxEntry, ResolvedEntryFilter } from "@outbox/core";

/** Whether an entry meets every condition of a filter. */
export function matchesFilter(filter: ResolvedEntryFilter, entry: OutboxEntry): boolean {
  const { envelope, createdAt, updatedAt } = entry;
  return (
    isAmong(filter.entryIds, entry.entryId) &&
    isAmong(filter.envelopeIds, envelope.envelopeId) &&
    isAmong(filter.destinations, entry.destination) &&
    isAmong(filter.statuses, entry.status) &&
    isAmong(filter.orderingKeys, entry.orderingKey) &&
    hasType(filter.types, envelope.type) &&
    isWithin(createdAt, filter.createdFrom, filter.createdBefore) &&
    isWithin(updatedAt, filter.updatedFrom, filter.updatedBefore)
  );
}

function isAmong(list: readonly string[] | null, value: string | null): boolean {
  return list === null || (value !== null && list.includes(value));
}

function hasType(types: ResolvedEntryFilter["types"], type: string): boolean {
  if (types === null) return true;
  return types.exact.includes(type) || types.prefixes.some((prefix) => type.startsWith(prefix));
}

function isWithin(instant: Date, from: Date | null, before: Date | null): boolean {
  return (from === null || instant >= from) && (before === null || instant < before);
}
