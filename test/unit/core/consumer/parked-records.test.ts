import fc from 'fast-check';
import type { ParkedRecord, ParkingItem, ParkingTableClient } from '../../../../lib/core/consumer';
import { ParkedRecords, type StorageKey } from '../../../../lib/core/consumer/parked-records';
import { segmentBytes } from '../../../../lib/core/consumer/parked-segment';
import { allOf } from '../../../support/all-of';
import { ParkingTable } from '../../../support/fakes/parking-table';

const recordsFrom = (start: number, count: number, bytes: number): ParkedRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ partitionKey: 'k', data: Buffer.alloc(bytes, start + index), subSequenceNumber: 0 },
    positions: [{ series: 's', number: String(start + index) }],
  }));

/** A simulated table that returns its items page by page. `queries` contains the queries that the table has received. */
function pagedRows(itemsOfAPage = 10) {
  const table = new ParkingTable();
  const queries: Parameters<ParkingTableClient['query']>[0][] = [];
  const client: Partial<ParkingTableClient> = {
    deleteItem: async (input) => table.deleteItem(input as never),
    query: async (input) => {
      queries.push(input);
      return table.query({ ...input, Limit: Math.min(input.Limit ?? itemsOfAPage, itemsOfAPage) });
    },
  };
  const rows = new ParkedRecords(client as ParkingTableClient, 'Parked', 'c');
  const write = (groups: ParkingItem[][]) => {
    for (const Item of groups.flat()) table.putItem({ TableName: 'Parked', Item });
  };
  const read = (first: number, next: number) => allOf(rows.records('k', first, next, PLACE));
  return { rows, table, queries, write, read };
}

const PLACE: StorageKey = { id: 'rows' };
const numbersOf = (records: readonly ParkedRecord[]) => records.map(({ positions }) => Number(positions[0]!.number));
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

const steps = fc.array(
  fc.oneof(
    // A write has several transactions. A process can stop after each of these transactions except the last.
    {
      weight: 3,
      arbitrary: fc.record({ count: fc.integer({ min: 1, max: 3 }), ended: fc.option(fc.double({ max: 1, min: 0 })) }),
    },
    { weight: 1, arbitrary: fc.record({ done: fc.integer({ min: 1, max: 4 }), isDeleted: fc.boolean() }) },
  ),
  { maxLength: 10 },
);

test('records – several writes and deletions of its items were interrupted – returns the valid records in order', async () => {
  const sizes = fc.constantFrom(1, 20_000, 400_000, 4_000_000);
  const play = fc.asyncProperty(steps, sizes, fc.integer({ min: 1, max: 3 }), async (drawn, bytes, itemsOfAPage) => {
    const { rows, write, read } = pagedRows(itemsOfAPage);
    let [first, next] = [0, 0];
    for (const step of drawn) {
      if ('done' in step) {
        first = Math.min(next, first + step.done);
        if (step.isDeleted) await rows.deleteRead(first, PLACE);
      } else {
        const groups = rows.itemsOf(PLACE, next, recordsFrom(next, step.count, bytes));
        if (step.ended !== null) {
          write(groups.slice(0, Math.floor(step.ended * groups.length)).slice(0, groups.length - 1));
          continue;
        }
        write(groups);
        next += step.count;
      }
      const records = await read(first, next);
      expect(numbersOf(records)).toEqual(range(first, next));
      for (const { data, positions } of records) {
        expect([data.length, data[0]]).toEqual([bytes, Number(positions[0]!.number) % 256]);
      }
    }
  });
  await fc.assert(play, { numRuns: 20 });
});

test('records – a record that fills its items to the last byte – returns the record', async () => {
  const { rows, table, write, read } = pagedRows();
  const ITEM_BYTES = 380_000;
  const head = segmentBytes(recordsFrom(0, 1, 100_000)).length - 100_000;
  write(rows.itemsOf(PLACE, 0, recordsFrom(0, 1, ITEM_BYTES - head)));
  expect(table.all.map(({ bytes }) => bytes.B.length)).toEqual([ITEM_BYTES]);
  expect((await read(0, 1))[0]!.data).toHaveLength(ITEM_BYTES - head);
});
