import fc from 'fast-check';
import type { ParkedRecord, ParkingItem, ParkingTableClient } from '../../../../lib/core/consumer';
import { ParkedRows, type RowsPlace } from '../../../../lib/core/consumer/parked-rows';
import { segmentBytes } from '../../../../lib/core/consumer/parked-segment';
import { ParkingTable } from '../../../support/fakes/parking-table';

const recordsFrom = (start: number, count: number, bytes: number): ParkedRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ partitionKey: 'k', data: Buffer.alloc(bytes, start + index), subSequenceNumber: 0 },
    places: [{ series: 's', number: String(start + index) }],
  }));

/** A table that answers a query in pages, and shows of an item what was asked for. */
function pagedRows(itemsOfAPage: number) {
  const table = new ParkingTable();
  const asked: Parameters<ParkingTableClient['query']>[0][] = [];
  const client: Partial<ParkingTableClient> = {
    putItem: async (input) => table.putItem(input as never),
    deleteItem: async (input) => table.deleteItem(input as never),
    query: async (input) => {
      asked.push(input);
      const {
        ProjectionExpression: name,
        ExpressionAttributeNames: names,
        ExclusiveStartKey: start,
      } = input as {
        ProjectionExpression?: string;
        ExpressionAttributeNames: Record<string, string>;
        ExclusiveStartKey?: ParkingItem;
      };
      // DynamoDB refuses names that nothing uses.
      expect(Object.keys(names).sort()).toEqual(['#id', ...(name === undefined ? [] : [name])]);
      const { Items } = table.query(input as never);
      const rest = Items.filter(({ part }) => start === undefined || part!.S! > start.part!.S!);
      const page = rest.slice(0, itemsOfAPage);
      const shown = name === undefined ? page : page.map((item) => ({ [names[name]!]: item[names[name]!] }));
      return { Items: shown, ...(rest.length > page.length && { LastEvaluatedKey: page.at(-1) }) };
    },
  };
  return { rows: new ParkedRows(client as ParkingTableClient, 'Parked', 'c'), table, asked };
}

const EMPTY: RowsPlace = { id: 'rows', last: '', cleared: 0 };

const steps = fc.array(
  fc.oneof(
    // What was not noted was written by a process that ended between the two, or that came too late.
    { weight: 3, arbitrary: fc.record({ count: fc.integer({ min: 1, max: 3 }), isNoted: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ done: fc.integer({ min: 1, max: 4 }) }) },
  ),
  { maxLength: 12 },
);

test('whoever appends, ends in between and deletes what is done: what counts is read, in order, and no more', async () => {
  const sizes = fc.constantFrom(1, 200_000, 400_000);
  const play = fc.asyncProperty(steps, sizes, fc.integer({ min: 1, max: 3 }), async (drawn, bytes, itemsOfAPage) => {
    const { rows } = pagedRows(itemsOfAPage);
    let [place, first, next] = [EMPTY, 0, 0];
    for (const step of drawn) {
      if ('done' in step) {
        first = Math.min(next, first + step.done);
        await rows.removeBefore(first, place, first === next);
      } else {
        const appended = await rows.append(place, next, recordsFrom(next, step.count, bytes));
        if (!step.isNoted) continue;
        place = appended.place;
        next += step.count;
      }
      const read: string[] = [];
      for await (const record of rows.read('k', first, next, place)) {
        expect([record.data.length, record.data[0]]).toEqual([bytes, Number(record.places[0]!.number)]);
        read.push(record.places[0]!.number);
      }
      expect(read).toEqual(Array.from({ length: next - first }, (_, index) => String(first + index)));
    }
  });
  await fc.assert(play, { numRuns: 50 });
});

test('what an interrupted write or deletion left holds nobody up', async () => {
  const { rows, table } = pagedRows(10);
  let { place } = await rows.append(EMPTY, 0, recordsFrom(0, 2, 200_000));
  for (let abandoned = 0; abandoned < 4; abandoned++) {
    const before = new Set(table.all);
    await rows.append(place, 2, recordsFrom(2, 1, 400_000));
    // The first item of a write need not be the first to arrive.
    const [first] = table.all.filter((item) => !before.has(item));
    table.deleteItem({ Key: { id: first!.id!, part: first!.part! } } as never);
  }
  ({ place } = await rows.append(place, 2, recordsFrom(2, 1, 400_000)));
  const bytesFrom = async (first: number): Promise<number[]> => {
    const read: number[] = [];
    for await (const { data } of rows.read('k', first, 3, place)) read.push(data.length);
    return read;
  };
  expect(await bytesFrom(0)).toEqual([200_000, 200_000, 400_000]);
  const [, done] = table.all;
  table.deleteItem({ Key: { id: done!.id!, part: done!.part! } } as never);
  expect(await bytesFrom(2)).toEqual([400_000]);
});

test('a record that fills its items to the last byte is read', async () => {
  const { rows, table } = pagedRows(10);
  const ITEM_BYTES = 380_000;
  const head = segmentBytes(recordsFrom(0, 1, 100_000)).length - 100_000;
  const { place } = await rows.append(EMPTY, 0, recordsFrom(0, 1, ITEM_BYTES - head));
  expect(table.all.map(({ bytes }) => bytes!.B!.length)).toEqual([ITEM_BYTES]);
  for await (const { data } of rows.read('k', 0, 1, place)) expect(data).toHaveLength(ITEM_BYTES - head);
});

test('what is taken back leaves nothing behind', async () => {
  const { rows, table } = pagedRows(10);
  const { takeBack } = await rows.append(EMPTY, 0, recordsFrom(0, 3, 200_000));
  expect(table.all.length).toBeGreaterThan(1);
  await takeBack();
  expect(table.all).toEqual([]);
});

test('items sort as their records do, and have the names that a table of an earlier version has', async () => {
  const { rows, table } = pagedRows(10);
  await rows.append(EMPTY, 41, recordsFrom(41, 1, 400_000));
  expect(table.all.map(({ part }) => part!.S!.replace(/(?<=\/)[\w-]{12}(?=\/)/, 'write'))).toEqual([
    '000000000041/write/000000',
    '000000000041/write/000001',
  ]);
});

test('every read is strongly consistent, and to delete, names are read without their bytes', async () => {
  const { rows, asked } = pagedRows(10);
  const { place } = await rows.append(EMPTY, 0, recordsFrom(0, 3, 1));
  for await (const _ of rows.read('k', 0, 3, place));
  await rows.removeBefore(3, place, true);
  expect(asked).toMatchObject([
    { ConsistentRead: true },
    { ConsistentRead: true, ProjectionExpression: '#part', ExpressionAttributeNames: { '#part': 'part' } },
  ]);
});
