import type { DynamoDbItem } from '../../../lib/core';
import { FakeTable } from './fake-table';

/** The attributes that a record of a table's stream contains. */
export type StreamView = 'NEW_IMAGE' | 'NEW_AND_OLD_IMAGES' | 'OLD_IMAGE' | 'KEYS_ONLY';

/** The ARN of the stream of a table. */
export const streamArnOf = (tableName: string, label = '2026-01-01T00:00:00.000') =>
  `arn:aws:dynamodb:us-east-1:111122223333:table/${tableName}/stream/${label}`;

/** A table in memory with a stream. Each change of an item becomes a record, in the form of an event of Lambda. */
export class StreamedTable extends FakeTable {
  readonly records: object[] = [];
  /** The time of the next changes, in milliseconds since 1970. */
  timeOfDay = Date.UTC(2026, 0, 1);

  constructor(
    private readonly key: readonly string[],
    readonly view: StreamView,
  ) {
    super(key);
  }

  override put(item: DynamoDbItem): void {
    const before = this.read(item);
    super.put(item);
    const after = this.read(item)!;
    // DynamoDB writes no record for a write that changes nothing.
    if (JSON.stringify(sorted(before)) !== JSON.stringify(sorted(after))) {
      this.record(before === undefined ? 'INSERT' : 'MODIFY', after, before);
    }
  }

  override delete(key: DynamoDbItem): void {
    const before = this.read(key);
    super.delete(key);
    if (before !== undefined) this.record('REMOVE', undefined, before);
  }

  private record(eventName: string, after: DynamoDbItem | undefined, before: DynamoDbItem | undefined): void {
    const has = (image: 'NEW' | 'OLD') => this.view === `${image}_IMAGE` || this.view === 'NEW_AND_OLD_IMAGES';
    const item = (after ?? before)!;
    this.records.push({
      eventName,
      eventSource: 'aws:dynamodb',
      eventSourceARN: streamArnOf('Jobs'),
      dynamodb: {
        Keys: eventJson(Object.fromEntries(this.key.map((name) => [name, item[name]!]))),
        ...(after && has('NEW') && { NewImage: eventJson(after) }),
        ...(before && has('OLD') && { OldImage: eventJson(before) }),
        SequenceNumber: String(100 + this.records.length),
        ApproximateCreationDateTime: Math.floor(this.timeOfDay / 1_000),
        StreamViewType: this.view,
      },
    });
  }
}

/** An item as an event of Lambda contains it: binary values are texts in base64. */
function eventJson(item: DynamoDbItem): object {
  const base64 = (_: string, value: unknown) => {
    const { type, data }: { type?: unknown; data?: number[] } = Object(value);
    return type === 'Buffer' ? Buffer.from(data!).toString('base64') : value;
  };
  return JSON.parse(JSON.stringify(item, base64));
}

function sorted(item: DynamoDbItem | undefined): unknown {
  return item && Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1));
}
