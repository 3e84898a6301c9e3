import { randomBytes } from 'node:crypto';
import type { DynamoDbItem } from '../aws-client/attribute-value';
import { ExpressionBuilder } from '../aws-client/expression';
import { checkItemFormat } from '../kernel/format-version';
import { pages } from '../kernel/pages';
import { RecentMap } from '../kernel/recent-map';
import { CorruptParkedRecordError } from './consumer-errors';
import { recordsOfSegment, segmentBytes, segmentsOf } from './parked-segment';
import type { ParkedRecord } from './parking-store';
import {
  itemsIn,
  type ParkingItem,
  type ParkingTableClient,
  PARKING_TABLE_KEY as PK,
  PARKING_TABLE_SORT_KEY as SK,
} from './parking-table';

/** The place of a parked key's records in the table. */
export interface StorageKey {
  /** The name of the partition with the records. */
  id: string;
}

interface Segment {
  start: number;
  bytes: Buffer;
  names: string[];
}

/** A segment that this process has read and not deleted yet. */
interface ReadSegment {
  /** The number of the last record of the segment, plus one. */
  end: number;
  names: readonly string[];
}

/** The maximum size of the data in an item. DynamoDB accepts items of up to 400 KB, including names and other attributes. */
const PART_BYTES = 380_000;
/**
 * The maximum number of items with records in a transaction. A transaction has at most 100 items, and one of these items is the
 * item of the key.
 */
const MAX_ITEMS = 99;
const MAX_BYTES = 3_600_000;
const NUMBER_DIGITS = 12;
const ITEM_DIGITS = 6;
const PARALLEL_WRITES = 8;
/**
 * From this number on, a page has as many items as fit into a response. A replay begins with a page of one item, and doubles the
 * number. So a replay that fails at its first record reads few items.
 */
const MAX_ITEMS_OF_A_PAGE = 64;
/** The number of keys whose read items this process remembers, to delete the items without another read. */
const MAX_KEYS_REMEMBERED = 256;

/**
 * Stores the records of parked keys. Each key has its own partition of the table. Many small records share an item, and a large
 * record is stored in several items.
 *
 * Each transaction that writes items of records also changes the item of the key, which names the partition of the records. So
 * `remove` always finds the records of a key. A write of several transactions takes effect only after its last item is stored.
 */
export class ParkedRecords {
  private readonly read = new RecentMap<string, ReadSegment[]>(MAX_KEYS_REMEMBERED);

  constructor(
    private readonly client: ParkingTableClient,
    private readonly tableName: string,
    private readonly consumer: string,
  ) {}

  /**
   * The items for records whose numbers begin at `start`, in groups. Each group fits into a transaction together with the key.
   */
  itemsOf(storageKey: StorageKey, start: number, records: readonly ParkedRecord[]): ParkingItem[][] {
    const write = randomBytes(9).toString('base64url');
    const items: ParkingItem[] = [];
    let number = start;
    for (const segment of segmentsOf(records)) {
      const parts = partsOf(segmentBytes(segment));
      parts.forEach((bytes, index) => {
        const isLast = index === parts.length - 1;
        const key = this.keyOf(storageKey, itemName(number, write, index));
        items.push({ ...key, bytes: { B: bytes }, ...(isLast && { isLast: { BOOL: true } }) });
      });
      number += segment.length;
    }
    const groups = groupsOf(items);
    if (groups.length > 1) {
      for (const item of items) item.isOfSeveral = { BOOL: true };
      items.at(-1)!.isEnd = { BOOL: true };
    }
    return groups;
  }

  /** The records with numbers from `first` up to but not including `next`, in order. */
  async *records(
    partitionKey: string,
    first: number,
    next: number,
    storageKey: StorageKey,
  ): AsyncGenerator<ParkedRecord> {
    if (first === next) return;
    const read: ReadSegment[] = [];
    this.read.set(storageKey.id, read);
    let number = first;
    for await (const { start, bytes, names } of this.segments(storageKey)) {
      const records = recordsOfSegment(partitionKey, bytes);
      read.push({ end: start + records.length, names });
      if (start > number) break;
      for (const record of records.slice(number - start)) {
        yield record;
        number += 1;
        if (number === next) return;
      }
    }
    throw new CorruptParkedRecordError(`record ${number} of ${next} is missing`);
  }

  /** Deletes each item that this process has read if all records in the item have a number below `before`. */
  async deleteRead(before: number, storageKey: StorageKey): Promise<void> {
    const read = this.read.get(storageKey.id) ?? [];
    const count = read.findIndex(({ end }) => end > before);
    const done = read.splice(0, count < 0 ? read.length : count);
    await this.delete(
      storageKey,
      done.flatMap(({ names }) => names),
    );
  }

  /** The sort keys of all items of a key, including items of incomplete writes. */
  async names(storageKey: StorageKey): Promise<string[]> {
    const names: string[] = [];
    for await (const item of this.items(storageKey, { namesOnly: true })) names.push(nameOf(item));
    return names;
  }

  async delete(storageKey: StorageKey, names: readonly string[]): Promise<void> {
    for (let from = 0; from < names.length; from += PARALLEL_WRITES) {
      const chunk = names.slice(from, from + PARALLEL_WRITES);
      await Promise.all(
        chunk.map((name) => this.client.deleteItem({ TableName: this.tableName, Key: this.keyOf(storageKey, name) })),
      );
    }
  }

  forget({ id }: StorageKey): void {
    this.read.delete(id);
  }

  /** The segments of complete writes, in order. */
  private async *segments(storageKey: StorageKey): AsyncGenerator<Segment> {
    const writes = new Map<string, { start?: string; parts: Buffer[]; names: string[]; segments: Segment[] }>();
    for await (const item of this.items(storageKey, { first: 1 })) {
      checkItemFormat('parked records', item);
      const name = nameOf(item);
      const [start, id, index] = name.split('/');
      const write = writes.get(id!) ?? { parts: [], names: [], segments: [] };
      writes.set(id!, write);
      const isNext = Number(index) === 0 || (write.start === start && Number(index) === write.parts.length);
      if (Number(index) === 0 || !isNext) [write.start, write.parts, write.names] = [start, [], []];
      // A process crashed while it deleted items of finished records, so earlier items of this segment are missing.
      if (!isNext) continue;
      write.parts.push(Buffer.from(Object(item.bytes).B));
      write.names.push(name);
      if (item.isLast === undefined) continue;
      write.segments.push({ start: Number(start), bytes: Buffer.concat(write.parts), names: write.names });
      [write.parts, write.names] = [[], []];
      // If the last item of a write is missing, the write is not complete: the process may have crashed before the last
      // transaction.
      if (item.isOfSeveral !== undefined && item.isEnd === undefined) continue;
      yield* write.segments;
      writes.delete(id!);
    }
  }

  private items(storageKey: StorageKey, page?: { namesOnly?: boolean; first?: number }): AsyncGenerator<DynamoDbItem> {
    return itemsOfPartition(this.client, this.tableName, this.partitionOf(storageKey), page);
  }

  private partitionOf({ id }: StorageKey): string {
    return JSON.stringify([this.consumer, 'rows', id]);
  }

  private keyOf(storageKey: StorageKey, name: string): ParkingItem {
    return { [PK]: { S: this.partitionOf(storageKey) }, [SK]: { S: name } };
  }
}

/**
 * Reads the items of a partition of the table, in the order of their sort keys.
 *
 * @param page whether to read only the sort keys, and how many items the first page has at most; each further page has twice as
 *   many items as the previous page
 */
export async function* itemsOfPartition(
  client: ParkingTableClient,
  TableName: string,
  partition: string,
  { namesOnly = false, first = MAX_ITEMS_OF_A_PAGE }: { namesOnly?: boolean; first?: number } = {},
): AsyncGenerator<DynamoDbItem> {
  const builder = new ExpressionBuilder();
  const expressions = builder.request({
    KeyConditionExpression: `${builder.name(PK)} = ${builder.value({ S: partition })}`,
    ...(namesOnly && { ProjectionExpression: builder.name(SK) }),
  });
  let limit = first;
  const read = (start: object | undefined) =>
    client.query({
      TableName,
      ConsistentRead: true,
      ...(expressions as Required<typeof expressions>),
      ...(limit < MAX_ITEMS_OF_A_PAGE && { Limit: limit }),
      ...(start && { ExclusiveStartKey: start }),
    });
  for await (const page of pages('Query', read, ({ LastEvaluatedKey }) => LastEvaluatedKey)) {
    yield* itemsIn(page);
    limit *= 2;
  }
}

function itemName(start: number, write: string, index: number): string {
  return `${String(start).padStart(NUMBER_DIGITS, '0')}/${write}/${String(index).padStart(ITEM_DIGITS, '0')}`;
}

function nameOf(item: DynamoDbItem): string {
  return String(Object(item[SK]).S);
}

function partsOf(segment: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < segment.length; from += PART_BYTES) parts.push(segment.subarray(from, from + PART_BYTES));
  return parts;
}

function groupsOf(items: readonly ParkingItem[]): ParkingItem[][] {
  const groups: ParkingItem[][] = [];
  let bytes = 0;
  for (const item of items) {
    const group = groups.at(-1);
    const more = item.bytes.B.length;
    if (group === undefined || group.length === MAX_ITEMS || bytes + more > MAX_BYTES) {
      groups.push([item]);
      bytes = more;
    } else {
      group.push(item);
      bytes += more;
    }
  }
  return groups;
}
