import { randomBytes } from 'node:crypto';
import type { DynamoDbItem } from '../foundation/attribute-value';
import { IncompleteAnswerError } from '../foundation/incomplete-answer-error';
import { CorruptParkedRecordError } from './consumer-errors';
import { recordsOfSegment, segmentBytes, segmentsOf } from './parked-segment';
import type { ParkedRecord } from './parking-store';
import {
  type ParkingItem,
  type ParkingTableClient,
  PARKING_TABLE_KEY as PK,
  PARKING_TABLE_SORT_KEY as SK,
} from './parking-table';

/** Where the records of a parked key are. */
export interface RowsPlace {
  /** The name of the partition that holds the records. */
  id: string;
  /** The last write that appended records. */
  last: string;
  /** Items with nothing but records before this number were deleted, or are about to be. */
  cleared: number;
}

/** What one write has appended. */
interface Appended {
  /** The number of its first record. */
  start: number;
  write: string;
  /** The write before this one, as its writer knew it. */
  previous: string;
  /** How many items the write has made, and those of them that are still there, in order. */
  count: number;
  items: DynamoDbItem[];
}

/** DynamoDB accepts items of 400 KB. The names and the other attributes need the rest. */
const PART_BYTES = 380_000;
const NUMBER_DIGITS = 12;
const ITEM_DIGITS = 6;
const WRITES_AT_ONCE = 8;

/**
 * Stores the records of parked keys: each key has a partition, many small records share an item, and a large record has
 * several items.
 *
 * A write appends its items first, and they count from the moment when the key names that write. A process that ended
 * between the two leaves items that do not count beside those that do. Each write names the one before it, so later readers
 * can tell them apart.
 */
export class ParkedRows {
  constructor(
    private readonly client: ParkingTableClient,
    private readonly tableName: string,
    private readonly consumer: string,
  ) {}

  /** Writes records. They count once the key has the place that this returns. */
  async append(
    place: RowsPlace,
    start: number,
    records: readonly ParkedRecord[],
  ): Promise<{ place: RowsPlace; takeBack(): Promise<void> }> {
    if (records.length === 0) return { place, takeBack: async () => {} };
    const write = randomBytes(9).toString('base64url');
    const parts = [...segmentsOf(records)].flatMap((segment) => partsOf(segmentBytes(segment)));
    const items = parts.map(
      ({ bytes, isLast }, index): ParkingItem => ({
        ...this.keyOf(place, itemName(start, write, index)),
        bytes: { B: bytes },
        ...(isLast && { isLast: { BOOL: true } }),
        ...(index === 0 && { count: { N: String(parts.length) }, previous: { S: place.last } }),
      }),
    );
    await inTurns(items, (Item) => this.client.putItem({ TableName: this.tableName, Item }));
    return { place: { ...place, last: write }, takeBack: () => this.remove(items) };
  }

  /** The records from one number up to another, in order. */
  async *read(partitionKey: string, first: number, next: number, place: RowsPlace): AsyncGenerator<ParkedRecord> {
    if (first === next) return;
    let expected: number | undefined;
    for await (const { start, items } of this.counting(first, place)) {
      expected ??= Math.min(start, first);
      if (start !== expected) break;
      for (const record of recordsIn(partitionKey, items)) {
        if (expected >= first) yield record;
        expected += 1;
        if (expected === next) return;
      }
    }
    throw new CorruptParkedRecordError(`record ${expected ?? first} of ${next} is not there`);
  }

  /**
   * Deletes items with nothing but records before a number.
   *
   * @param holdsNoMore whether there is no record from that number on
   */
  async removeBefore(first: number, place: RowsPlace, holdsNoMore: boolean): Promise<void> {
    const names = await this.namesUpTo(first, place);
    // The records of one write end where those of the next one begin. Where the last write ends is not known.
    const last = holdsNoMore ? Number.POSITIVE_INFINITY : Math.max(0, ...names.map(startOf));
    const gone = names.filter((name) => startOf(name) < Math.min(first, last));
    await this.remove(gone.map((name) => this.keyOf(place, name)));
  }

  /**
   * The writes that count and that hold records from a number on, in order. Earlier records of them may be gone.
   */
  private async *counting(first: number, place: RowsPlace): AsyncGenerator<Appended> {
    let beside: Appended[] = [];
    for await (const appended of this.appended(place)) {
      if (beside.length > 0 && beside[0]!.start !== appended.start) {
        if (appended.start > first) yield theOneOf(beside, appended.previous);
        beside = [];
      }
      beside.push(appended);
    }
    if (beside.length > 0) yield theOneOf(beside, place.last);
  }

  /** Everything that was appended, including what does not count. */
  private async *appended(place: RowsPlace): AsyncGenerator<Appended> {
    let appended: Appended | undefined;
    for await (const item of this.items(place)) {
      const [start, write, index] = String(Object(item[SK]).S).split('/');
      if (Number(index) === 0) {
        if (appended !== undefined) yield appended;
        const count = Number(Object(item.count).N);
        appended = { start: Number(start), write: write!, previous: String(Object(item.previous).S), count, items: [] };
      }
      // A write without its first item was never complete.
      if (appended?.write === write) appended!.items.push(item);
    }
    if (appended !== undefined) yield appended;
  }

  private async *items(place: RowsPlace): AsyncGenerator<DynamoDbItem> {
    let start: object | undefined;
    do {
      const page = await this.page(place, start);
      yield* page.items;
      start = page.start;
    } while (start !== undefined);
  }

  /** The names of the items of writes that begin up to a number. */
  private async namesUpTo(first: number, place: RowsPlace): Promise<string[]> {
    const names: string[] = [];
    let start: object | undefined;
    do {
      const page = await this.page(place, start, { ProjectionExpression: '#part', names: { '#part': SK } });
      for (const item of page.items) {
        const name = String(Object(item[SK]).S);
        if (startOf(name) > first) return names;
        names.push(name);
      }
      start = page.start;
    } while (start !== undefined);
    return names;
  }

  private async page(
    place: RowsPlace,
    start: object | undefined,
    { names, ...projection }: { ProjectionExpression?: string; names?: Record<string, string> } = {},
  ): Promise<{ items: DynamoDbItem[]; start: object | undefined }> {
    const { Items, LastEvaluatedKey }: { Items?: object[]; LastEvaluatedKey?: object } = Object(
      await this.client.query({
        TableName: this.tableName,
        ConsistentRead: true,
        KeyConditionExpression: '#id = :id',
        ExpressionAttributeNames: { '#id': PK, ...names },
        ExpressionAttributeValues: { ':id': this.keyOf(place, '')[PK] },
        ...projection,
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    if (!Array.isArray(Items)) throw new IncompleteAnswerError('Query', 'Items');
    return { items: Items as DynamoDbItem[], start: LastEvaluatedKey };
  }

  private remove(keys: readonly ParkingItem[]): Promise<void> {
    return inTurns(keys, ({ [PK]: id, [SK]: part }) =>
      this.client.deleteItem({ TableName: this.tableName, Key: { [PK]: id, [SK]: part } }),
    );
  }

  private keyOf({ id }: RowsPlace, name: string): ParkingItem {
    return { [PK]: { S: JSON.stringify([this.consumer, 'rows', id]) }, [SK]: { S: name } };
  }
}

function itemName(start: number, write: string, index: number): string {
  return `${String(start).padStart(NUMBER_DIGITS, '0')}/${write}/${String(index).padStart(ITEM_DIGITS, '0')}`;
}

function startOf(name: string): number {
  return Number(name.slice(0, NUMBER_DIGITS));
}

function partsOf(segment: Buffer): { bytes: Buffer; isLast: boolean }[] {
  const parts: { bytes: Buffer; isLast: boolean }[] = [];
  for (let from = 0; from < segment.length; from += PART_BYTES) {
    parts.push({ bytes: segment.subarray(from, from + PART_BYTES), isLast: from + PART_BYTES >= segment.length });
  }
  return parts;
}

/** Of several writes that begin with the same record, the one that counts. */
function theOneOf(beside: readonly Appended[], write: string): Appended {
  const appended = beside.find((each) => each.write === write);
  if (appended !== undefined && appended.items.length === appended.count) return appended;
  throw new CorruptParkedRecordError(`what was appended from record ${beside[0]!.start} on is not whole`);
}

function* recordsIn(partitionKey: string, items: readonly DynamoDbItem[]): Generator<ParkedRecord> {
  let parts: Buffer[] = [];
  for (const { bytes, isLast } of items) {
    parts.push(Buffer.from(Object(bytes).B));
    if (isLast === undefined) continue;
    yield* recordsOfSegment(partitionKey, Buffer.concat(parts));
    parts = [];
  }
}

async function inTurns<T>(items: readonly T[], send: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += WRITES_AT_ONCE) {
    await Promise.all(items.slice(from, from + WRITES_AT_ONCE).map(send));
  }
}
