import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { estimatedShare, sampleTable } from '../../../../bin/doctor/table-sample';
import type { DynamoDbItem } from '../../../../lib/core/aws-client/attribute-value';
import { itemBytes } from '../../../../lib/core/sharded-index/query/item-bytes';
import { seededRandom } from '../../../../lib/testing/seeded-random';

/** A table whose items are in the order of their keys' hashes. A segment is a part of this order, as in DynamoDB. */
function scannable(items: readonly DynamoDbItem[]) {
  let units = 0;
  let unitsBeforeLast = 0;
  const scan = async ({ Segment = 0, TotalSegments = 1, Limit = 1 }) => {
    const bound = (segment: number) => Math.floor((segment * items.length) / TotalSegments);
    const ofSegment = items.slice(bound(Segment), bound(Segment + 1));
    const Items = ofSegment.slice(0, Limit);
    const bytes = Items.reduce((sum, item) => sum + itemBytes(item), 0);
    const CapacityUnits = Math.max(0.5, Math.ceil(bytes / 4_096) / 2);
    unitsBeforeLast = units;
    units += CapacityUnits;
    const LastEvaluatedKey = Items.length < ofSegment.length || Items.length === Limit ? Items.at(-1) : undefined;
    return { Items, LastEvaluatedKey, ConsumedCapacity: { CapacityUnits } };
  };
  return {
    client: { scan } as unknown as Pick<DynamoDB, 'scan'>,
    units: () => units,
    unitsBeforeLast: () => unitsBeforeLast,
  };
}

/** Every tenth item is larger, so the size of a response differs from the mean. */
const itemsOf = (count: number, bytes: number): DynamoDbItem[] =>
  Array.from({ length: count }, (_, n) => ({
    id: { S: `${n}` },
    data: { S: 'x'.repeat(n % 10 === 9 ? 8 * bytes : bytes) },
  }));

test('a sample of any table – begins no request outside its budget, and reads all parts of the table', async () => {
  const tables = fc.record({ count: fc.nat(3_000), bytes: fc.nat(2_000), budget: fc.integer({ min: 1, max: 120 }) });
  await fc.assert(
    fc.asyncProperty(tables, async ({ count, bytes, budget }) => {
      const { client, units, unitsBeforeLast } = scannable(itemsOf(count, bytes));
      const sample = await sampleTable(client, 'Orders', budget);
      expect(sample.readUnits).toBe(units());
      // Each request begins within the budget. The response of the last request can have larger items than the mean.
      expect(unitsBeforeLast()).toBeLessThanOrEqual(budget - 0.5);
      const found = sample.segments.flat();
      expect(new Set(found.map(({ id }) => (id as { S: string }).S)).size).toBe(found.length);
      if (sample.isWhole) expect(found).toHaveLength(count);
      const ids = found.map(({ id }) => Number((id as { S: string }).S));
      if (count >= 1_000 && budget >= 40 && bytes < 300) {
        for (const part of [0, 1, 2, 3]) {
          expect(ids.some((id) => id >= (part * count) / 4 && id < ((part + 1) * count) / 4)).toBe(true);
        }
      }
    }),
    { seed: 1, numRuns: 60 },
  );
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
    const sample = await sampleTable(scannable(items).client, 'Orders', 50);
    const { share: estimated, error } = estimatedShare(sample, holds);
    if (Math.abs(estimated - items.filter(holds).length / items.length) <= error) covered += 1;
  }
  expect(covered).toBeGreaterThanOrEqual(0.93 * tables);
});

test('the share of a whole table has no error, and a sample without items proves nothing', () => {
  const item: DynamoDbItem = { id: { S: 'a' } };
  expect(estimatedShare({ segments: [[item]], isWhole: true, readUnits: 1 }, () => true)).toEqual({
    share: 1,
    error: 0,
  });
  expect(estimatedShare({ segments: [[]], isWhole: false, readUnits: 1 }, () => true)).toEqual({ share: 0, error: 1 });
});
