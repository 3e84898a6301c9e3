/** The stored items or rows by value and shard. The value with the most items comes first. */
export type CountsByValue = readonly {
  readonly value: string;
  readonly itemsOfShards: Readonly<Record<number, number>>;
}[];

export async function countsByValue(
  items: AsyncIterable<{ readonly value: string; readonly shard: number }>,
): Promise<CountsByValue> {
  const values = new Map<string, Record<number, number>>();
  for await (const { value, shard } of items) {
    const itemsOfShards = values.get(value) ?? {};
    itemsOfShards[shard] = (itemsOfShards[shard] ?? 0) + 1;
    values.set(value, itemsOfShards);
  }
  const sum = (counts: Record<number, number>) => Object.values(counts).reduce((total, count) => total + count, 0);
  return [...values]
    .map(([value, itemsOfShards]) => ({ value, itemsOfShards }))
    .sort((a, b) => sum(b.itemsOfShards) - sum(a.itemsOfShards));
}
