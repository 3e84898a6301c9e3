import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { estimatedShare, MIN_SAMPLE_UNITS, sampledItems, sampleTable } from '../../../../bin/doctor/table-sample';
import type { DynamoDbItem } from '../../../../lib/core/aws-client/attribute-value';
import { itemBytes } from '../../../../lib/core/sharded-index/query/item-bytes';
import { seededRandom } from '../../../../lib/testing/seeded-random';

const PAGE_BYTES = 1_024 * 1_024;
const ORDERS = { tableName: 'Orders', partitionKey: 'id', hasSortKey: false };

/**
 * A table whose items are in the order of their keys' hashes. A segment is a part of this order, as in DynamoDB. A page ends with the item that passes 1 MB.
 */
function scannable(
  items: readonly DynamoDbItem[],
  segmentOf = (n: number, all: number) => Math.floor((n * all) / items.length),
) {
  let units = 0;
  let segments: DynamoDbItem[][] = [];
  const segmentsOf = (all: number) => {
    if (segments.length === all) return segments;
    segments = Array.from({ length: all }, () => []);
    for (const [n, item] of items.entries()) segments[segmentOf(n, all)]!.push(item);
    return segments;
  };
  const scan = async ({ Segment = 0, TotalSegments = 1, Limit = 1 }) => {
    const ofSegment = segmentsOf(TotalSegments)[Segment] ?? [];
    const Items: DynamoDbItem[] = [];
    let bytes = 0;
    for (const item of ofSegment.slice(0, Limit)) {
      Items.push(item);
      bytes += itemBytes(item);
      if (bytes > PAGE_BYTES) break;
    }
    const CapacityUnits = Math.max(0.5, Math.ceil(bytes / 4_096) / 2);
    units += CapacityUnits;
    const LastEvaluatedKey = Items.length < ofSegment.length || Items.length === Limit ? Items.at(-1) : undefined;
    return { Items, LastEvaluatedKey, ConsumedCapacity: { CapacityUnits } };
  };
  return { client: { scan } as unknown as Pick<DynamoDB, 'scan'>, units: () => units };
}

/** Items with two sizes, in any order. */
const itemsOf = (
  count: number,
  bytes: number,
  largeBytes: number,
  everyLarge: number,
  isLargeFirst: boolean,
): DynamoDbItem[] =>
  Array.from({ length: count }, (_, n) => {
    const isLarge = isLargeFirst ? n < count / everyLarge : n % everyLarge === everyLarge - 1;
    return { id: { S: `${n}` }, data: { S: 'x'.repeat(isLarge ? largeBytes : bytes) } };
  });

test('a sample of any table – costs at most its budget, also with items of 400 KB, and reads all parts of a table of small items', async () => {
  const tables = fc.record({
    count: fc.nat(2_000),
    bytes: fc.nat(2_000),
    largeBytes: fc.constantFrom(1_000, 50_000, 400 * 1_024 - 20),
    everyLarge: fc.constantFrom(1, 10, 300),
    isLargeFirst: fc.boolean(),
    budget: fc.integer({ min: MIN_SAMPLE_UNITS, max: 600 }),
  });
  await fc.assert(
    fc.asyncProperty(tables, async ({ count, bytes, largeBytes, everyLarge, isLargeFirst, budget }) => {
      const items = itemsOf(largeBytes > 1_000 ? count % 300 : count, bytes, largeBytes, everyLarge, isLargeFirst);
      const { client, units } = scannable(items);
      const sample = await sampleTable(client, ORDERS, budget);
      expect(sample.readUnits).toBe(units());
      expect(units()).toBeLessThanOrEqual(budget);
      const ids = sampledItems(sample).map(({ id }) => Number((id as { S: string }).S));
      expect(new Set(ids).size).toBe(ids.length);
      if (sample.isWhole) expect(ids).toHaveLength(items.length);
      if (count >= 1_000 && budget >= 100 && largeBytes <= 1_000) {
        for (const part of [0, 1, 2, 3]) {
          expect(ids.some((id) => id >= (part * count) / 4 && id < ((part + 1) * count) / 4)).toBe(true);
        }
      }
    }),
    { seed: 1, numRuns: 60 },
  );
});

test('a partition key has most items of a table – the sample does not know the shares of the table', async () => {
  const items = Array.from({ length: 4_000 }, (_, n) => ({
    id: { S: n < 3_600 ? 'hot' : `cold-${n % 40}` },
    at: { N: `${n}` },
  }));
  const segmentOf = (n: number, all: number) => (n < 3_600 ? 3 : n % all);
  const { client } = scannable(items, segmentOf);
  const sample = await sampleTable(client, { ...ORDERS, hasSortKey: true }, 500);
  const { error } = estimatedShare(sample, ({ id }) => (id as { S: string }).S === 'hot');
  expect(error).toBe(1);
});

test('the error of a share covers the share of the table in most tables, also if neighbours have equal values', async () => {
  const random = seededRandom(1);
  let covered = 0;
  const tables = 200;
  for (let table = 0; table < tables; table++) {
    const [part, together] = [random(), 1 + Math.floor(random() * 40)];
    let isFound = false;
    const items = Array.from({ length: 4_000 }, (_, n): DynamoDbItem => {
      if (n % together === 0) isFound = random() < part;
      return { id: { S: `${n}` }, is: { BOOL: isFound }, data: { S: 'x'.repeat(400) } };
    });
    const holds = ({ is }: DynamoDbItem) => (is as { BOOL: boolean }).BOOL;
    const sample = await sampleTable(scannable(items).client, ORDERS, 500);
    const { share: estimated, error } = estimatedShare(sample, holds);
    if (Math.abs(estimated - items.filter(holds).length / items.length) <= error) covered += 1;
  }
  expect(covered).toBeGreaterThanOrEqual(0.93 * tables);
});

test('the share of a whole table has no error, and a sample without items proves nothing', () => {
  const item: DynamoDbItem = { id: { S: 'a' } };
  const segmentOf = (...items: DynamoDbItem[]) => ({ items, isOfOneKey: false });
  expect(estimatedShare({ segments: [segmentOf(item)], isWhole: true, readUnits: 1 }, () => true)).toEqual({
    share: 1,
    error: 0,
  });
  expect(estimatedShare({ segments: [segmentOf()], isWhole: false, readUnits: 1 }, () => true)).toEqual({
    share: 0,
    error: 1,
  });
});
