import {
  calculatedShard,
  type DynamoDbItem,
  reshardItems,
  type ShardCount,
  type ShardedConfigSource,
  type ShardedIndexConfig,
  type StrayScanError,
} from '../../../../../lib/core';
import { FakeTable, movedTo } from '../../../../support/fakes/fake-table';
import { indexConfig } from '../../../../support/index-config';

const counted = (count: number, byValue: Record<string, number> = {}): ShardedIndexConfig => {
  const both = (each: number): ShardCount => ({ write: each, read: each });
  const values = Object.entries(byValue).map(([value, each]) => [value, both(each)] as const);
  return indexConfig({
    tableKey: ['id'],
    keyLayout: 'single-attribute',
    sortKeyAttributes: [],
    shards: { default: both(count), byValue: Object.fromEntries(values) },
  });
};

/** A source of shard counts. `count` returns the current configuration. */
const sourceOf = (count: () => ShardedIndexConfig): ShardedConfigSource => ({
  initial: counted(1),
  forReading: async () => count(),
});

describe('reshardItems while shard counts change', () => {
  const ITEMS = 30;

  /** A table with pages of ten items. Each item is in its correct shard of four shards. */
  function table(): FakeTable {
    const items = new FakeTable(['id'], 10);
    for (let number = 0; number < ITEMS; number++) {
      const shard = { S: `open#${calculatedShard(`o-${number}`, 4)}` };
      items.put({ id: { S: `o-${number}` }, status: { S: 'open' }, shard });
    }
    return items;
  }
  const decreasesAt = (scans: number, of: FakeTable) => sourceOf(() => counted(of.scans.length < scans ? 4 : 2));
  const shardOf = ({ shard }: DynamoDbItem): string => (shard as { S: string }).S;

  test('scans the table again after a count decreases, so that no item stays in a removed shard', async () => {
    const items = table();
    const report = await reshardItems(items, decreasesAt(2, items));
    expect(report.resumePoint).toBeUndefined();
    expect(report.itemsScanned).toBeGreaterThan(ITEMS);
    for (const item of items.items.values()) expect(shardOf(item)).toMatch(/^open#[01]$/);
  });

  test('scans the table again from its resume point if a count decreased before the scan failed', async () => {
    const items = table();
    const onStray = () => {
      throw new Error('disk full');
    };
    const { report }: StrayScanError = await reshardItems(items, decreasesAt(2, items), { onStray }).catch(
      (error) => error,
    );
    const rest = await reshardItems(items, counted(2), { resumeFrom: report.resumePoint! });
    expect(rest.itemsScanned).toBe(ITEMS);
  });

  test('does not move an item to a removed shard if the count has decreased since the scan read the item', async () => {
    const items = table();
    for (const item of items.items.values()) items.put({ ...item, shard: { S: 'open#9' } });
    let reads = 0;
    await reshardItems(
      items,
      sourceOf(() => counted(reads++ < 2 ? 4 : 2)),
    );
    expect(items.updates.length).toBeGreaterThanOrEqual(ITEMS);
    for (const update of items.updates) expect(movedTo(update)).toMatch(/^open#[01]$/);
  });
});
