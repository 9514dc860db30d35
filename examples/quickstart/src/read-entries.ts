import type { EntryFilter, InspectionFacet, OutboxEntrySummary } from "@outbox/core";

/** All entries that match, page by page. */
export async function readEntries(
  store: InspectionFacet,
  filter: EntryFilter,
): Promise<readonly OutboxEntrySummary[]> {
  const entries: OutboxEntrySummary[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.list(filter, { maxCount: 1_000, after });
    entries.push(...page.entries);
    if (page.cursor === undefined) return entries;
    after = page.cursor;
  }
}
