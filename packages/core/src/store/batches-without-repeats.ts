/** Splits so that no batch is longer than the driver takes (`null`: any length) or names an entry twice. */
export function batchesWithoutRepeats<Item>(
  items: readonly Item[],
  entryIdOf: (item: Item) => string,
  maxBatch: number | null,
): readonly (readonly Item[])[] {
  const batches: Item[][] = [];
  let current: Item[] = [];
  let ids = new Set<string>();
  for (const item of items) {
    const id = entryIdOf(item);
    if (ids.has(id) || current.length === maxBatch) {
      batches.push(current);
      current = [];
      ids = new Set();
    }
    current.push(item);
    ids.add(id);
  }
  if (current.length > 0) batches.push(current);
  return batches;
}
