import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { AttributeValue, DynamoDbItem } from '../foundation/attribute-value';
import { checkClient } from '../foundation/client-check';
import { InvalidArgumentError } from '../foundation/errors';
import { CONSUMER_NAME, PARKING_TABLE_NAME } from '../foundation/function-environment';
import { IncompleteAnswerError } from '../foundation/incomplete-answer-error';
import { CorruptParkedRecordError } from './consumer-errors';
import { DynamoDbFenceStore } from './dynamodb-fence-store';
import { EitherNumber, EitherString } from './either-value';
import type { FenceStore } from './fence-store';
import { ParkedRows, type RowsPlace } from './parked-rows';
import { type ParkedKey, ParkedKeys, type ParkedRecord } from './parking-store';
import {
  PARKING_TABLE_TIME_TO_LIVE,
  type ParkingItem,
  type ParkingTableClient,
  PARKING_TABLE_KEY as PK,
  PARKING_TABLE_SORT_KEY as SK,
} from './parking-table';
import type { Place } from './place';

/** Where a `DynamoDbParkingStore` keeps parked keys. */
export interface DynamoDbParkingStoreOptions {
  /**
   * The table. Its partition key is `id` and its sort key `part`, both strings. Its time-to-live attribute is `expiresAt`:
   * items of `once` and of moves have one, and a parked record never has.
   */
  tableName: string;
  /** Names the consumer, in 1 to 128 characters. Consumers that share a table know nothing of one another. */
  consumer: string;
  /**
   * How long `once` remembers at least that a record has taken effect, in days. It must be longer than a record can wait in the
   * stream and in the table.
   * @default 400: a stream keeps records for 365 days at most
   */
  rememberDays?: number;
}

const DEFAULT_REMEMBER_DAYS = 400;
const SECONDS_PER_DAY = 24 * 60 * 60;

const MARKS = 'marks';
const KEYS_OF_A_READ = 100;
const LONGEST_TEXT_BYTES = 500;
const HASHED = 'sha256:';

/**
 * Keeps parked keys in a DynamoDB table, for a consumer of several processes or functions. While no key is parked, a batch
 * costs one strongly consistent read of an item of less than 4 KB. The construct `OrderedStreamConsumer` makes such a table.
 */
export class DynamoDbParkingStore extends ParkedKeys {
  readonly consumer: string;
  readonly moves: FenceStore;
  private readonly tableName: string;
  private readonly rememberSeconds: number;
  private readonly rows: ParkedRows;
  /** Parts that are to be marked by the next write, and the last write that has begun. */
  private readonly toMark = new Set<string>();
  private marking?: Promise<void>;

  /**
   * The store for a function of the construct `OrderedStreamConsumer`, which tells the function its table.
   *
   * @throws InvalidArgumentError if the function's environment names no table
   */
  static fromEnvironment(client: ParkingTableClient): DynamoDbParkingStore {
    const { [PARKING_TABLE_NAME]: tableName, [CONSUMER_NAME]: consumer } = process.env;
    if (tableName === undefined || consumer === undefined) {
      const names = `${PARKING_TABLE_NAME} and ${CONSUMER_NAME}`;
      throw new InvalidArgumentError('environment', undefined, `one with ${names}, which OrderedStreamConsumer sets`);
    }
    return new DynamoDbParkingStore(client, { tableName, consumer });
  }

  /** @throws InvalidArgumentError if the client lacks a method, or an option is out of its bounds */
  constructor(
    private readonly client: ParkingTableClient,
    { tableName, consumer, rememberDays = DEFAULT_REMEMBER_DAYS }: DynamoDbParkingStoreOptions,
  ) {
    super();
    checkClient(client, ['getItem', 'batchGetItem', 'query', 'putItem', 'updateItem', 'deleteItem']);
    if (typeof tableName !== 'string' || tableName === '') {
      throw new InvalidArgumentError('tableName', tableName, 'the name of a table');
    }
    if (typeof consumer !== 'string' || !/^.{1,128}$/su.test(consumer)) {
      throw new InvalidArgumentError('consumer', consumer, '1 to 128 characters');
    }
    if (!(rememberDays > 0 && Number.isFinite(rememberDays))) {
      throw new InvalidArgumentError('rememberDays', rememberDays, 'a number of days above 0');
    }
    this.consumer = consumer;
    this.tableName = tableName;
    this.rememberSeconds = rememberDays * SECONDS_PER_DAY;
    this.rows = new ParkedRows(client, tableName, consumer);
    const updateItem = (input: Parameters<ParkingTableClient['updateItem']>[0]) =>
      client.updateItem({ ...input, Key: { [PK]: input.Key.id!, [SK]: { S: 'move' } } });
    this.moves = new DynamoDbFenceStore({ updateItem }, { tableName, consumer });
  }

  async find(partitionKeys: Iterable<string>): Promise<Map<string, ParkedKey>> {
    const marks = await this.marks();
    const wanted = [...partitionKeys].filter((partitionKey) => marks.has(partOf(partitionKey)));
    const pages: Promise<ParkedKey[]>[] = [];
    for (let from = 0; from < wanted.length; from += KEYS_OF_A_READ) {
      pages.push(this.read(wanted.slice(from, from + KEYS_OF_A_READ)));
    }
    const found = (await Promise.all(pages)).flat();
    return new Map(found.map((key) => [key.partitionKey, key]));
  }

  async *keys(): AsyncGenerator<ParkedKey> {
    for (const part of (await this.marks()).keys()) yield* this.keysOf(part);
  }

  records(key: ParkedKey): AsyncGenerator<ParkedRecord> {
    return this.rows.read(key.partitionKey, key.first, key.next, key.place as RowsPlace);
  }

  async save(key: ParkedKey, appended: readonly ParkedRecord[] = []): Promise<ParkedKey | undefined> {
    const isNew = key.revision === undefined;
    const part = partOf(key.partitionKey);
    // A key is looked up only where its part is marked. So the part is marked before the key is written, and again after it.
    if (isNew) await this.mark(part);
    const before = (key.place as RowsPlace | undefined) ?? { id: randomUUID(), last: '', cleared: 0 };
    const { place, takeBack } = await this.rows.append(before, key.next - appended.length, appended);
    const saved: ParkedKey = { ...key, revision: randomUUID(), place: { ...place, cleared: key.first } };
    const there = await this.put(saved, key.revision);
    if (there?.revision !== saved.revision) {
      // If the key has its records at this place, the records may count: the answer was lost, and others have gone on from
      // there.
      if ((there?.place as RowsPlace | undefined)?.id !== place.id) await takeBack();
      return undefined;
    }
    if (isNew) await this.mark(part);
    if (key.first > before.cleared) await this.rows.removeBefore(key.first, before, key.first === key.next);
    return saved;
  }

  async remove({ partitionKey, revision, place, next }: ParkedKey): Promise<boolean> {
    const part = partOf(partitionKey);
    await this.rows.removeBefore(next, place as RowsPlace, true);
    const isRemoved = await this.ifUnchanged(
      this.client.deleteItem({
        TableName: this.tableName,
        Key: this.keyOf(partitionKey),
        ConditionExpression: '#revision = :revision',
        ExpressionAttributeNames: { '#revision': 'revision' },
        ExpressionAttributeValues: { ':revision': { S: revision! } },
      }),
    );
    // An answer may have been lost: then the key is gone, and the second attempt finds nothing to delete.
    if (!isRemoved && (await this.readOne(partitionKey)) !== undefined) return false;
    await this.unmarkIfEmpty(part);
    return true;
  }

  async pass(partitionKey: string, place: Place): Promise<void> {
    const { Update } = this.onceItem(partitionKey, place);
    const { ReturnValuesOnConditionCheckFailure: _, ...update } = Update;
    await this.ifUnchanged(this.client.updateItem(update));
  }

  onceItem(partitionKey: string, { series, number }: Place) {
    const id = this.id('done', shortText(partitionKey));
    return {
      Update: {
        TableName: this.tableName,
        Key: { [PK]: new EitherString(id), [SK]: new EitherString(shortText(series)) },
        UpdateExpression: 'SET #number = :number, #expiresAt = :expiresAt',
        ConditionExpression: 'attribute_not_exists(#number) OR #number < :number',
        ExpressionAttributeNames: { '#number': 'number', '#expiresAt': PARKING_TABLE_TIME_TO_LIVE },
        ExpressionAttributeValues: {
          ':number': new EitherString(number),
          ':expiresAt': new EitherNumber(String(this.expiresAt(id, series, number))),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      },
    };
  }

  /**
   * Until when `once` remembers a record, in seconds since 1970. Every attempt at the record must write the same item: the caller may
   * send a `ClientRequestToken`, which DynamoDB accepts for one request only. So the time is on a grid, and each record has its own
   * grid.
   */
  private expiresAt(...record: string[]): number {
    const now = Math.floor(Date.now() / 1000);
    const step = Math.ceil(this.rememberSeconds / 4);
    const phase = createHash('sha256').update(JSON.stringify(record)).digest().readUInt32BE(0) % step;
    return Math.ceil((now + this.rememberSeconds - phase) / step) * step + phase;
  }

  /** The marks of the parts in which a key may be parked. */
  private async marks(): Promise<Map<string, string>> {
    const item = await this.get(this.marksKey());
    const marks = new Map<string, string>();
    for (const [name, value] of Object.entries(item ?? {})) {
      if (name !== PK && name !== SK && 'S' in value) marks.set(name, value.S);
    }
    return marks;
  }

  /** Marks a part. Calls that come while a write is in flight share the next write. */
  private async mark(part: string): Promise<void> {
    this.toMark.add(part);
    await this.marking?.catch(() => {});
    if (this.toMark.has(part)) {
      const parts = [...this.toMark];
      this.toMark.clear();
      this.marking = this.writeMarks(parts);
    }
    await this.marking;
  }

  private async writeMarks(parts: readonly string[]): Promise<void> {
    // The value is new each time, so that nobody who has seen an earlier mark takes this one for the same.
    const mark = randomBytes(6).toString('base64url');
    await this.client.updateItem({
      TableName: this.tableName,
      Key: this.marksKey(),
      UpdateExpression: `SET ${parts.map((_, index) => `#part${index} = :mark`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(parts.map((part, index) => [`#part${index}`, part])),
      ExpressionAttributeValues: { ':mark': { S: mark } },
    });
  }

  /** If a key was parked after the mark was read, its part was marked anew, and the condition does not hold. */
  private async unmarkIfEmpty(part: string): Promise<void> {
    const mark = (await this.marks()).get(part);
    if (mark === undefined) return;
    for await (const _ of this.keysOf(part)) return;
    await this.ifUnchanged(
      this.client.updateItem({
        TableName: this.tableName,
        Key: this.marksKey(),
        UpdateExpression: 'REMOVE #part',
        ConditionExpression: '#part = :mark',
        ExpressionAttributeNames: { '#part': part },
        ExpressionAttributeValues: { ':mark': { S: mark } },
      }),
    );
  }

  private async *keysOf(part: string): AsyncGenerator<ParkedKey> {
    let start: object | undefined;
    do {
      const { Items, LastEvaluatedKey }: { Items?: object[]; LastEvaluatedKey?: object } = Object(
        await this.client.query({
          TableName: this.tableName,
          ConsistentRead: true,
          KeyConditionExpression: '#id = :id',
          ExpressionAttributeNames: { '#id': PK },
          ExpressionAttributeValues: { ':id': { S: this.id('keys', part) } },
          ...(start && { ExclusiveStartKey: start }),
        }),
      );
      // An answer without items would be taken for a part in which no key is parked.
      if (!Array.isArray(Items)) throw new IncompleteAnswerError('Query', 'Items');
      for (const item of Items) yield keyIn(item as DynamoDbItem);
      start = LastEvaluatedKey;
    } while (start !== undefined);
  }

  private async read(partitionKeys: readonly string[]): Promise<ParkedKey[]> {
    if (partitionKeys.length === 1) {
      const key = await this.readOne(partitionKeys[0]!);
      return key === undefined ? [] : [key];
    }
    const found: ParkedKey[] = [];
    let Keys: ParkingItem[] = partitionKeys.map((partitionKey) => this.keyOf(partitionKey));
    while (Keys.length > 0) {
      const { Responses, UnprocessedKeys } = Object(
        await this.client.batchGetItem({ RequestItems: { [this.tableName]: { Keys, ConsistentRead: true } } }),
      );
      const items = Object(Responses)[this.tableName];
      if (!Array.isArray(items)) throw new IncompleteAnswerError('BatchGetItem', 'the items of the table');
      for (const item of items) found.push(keyIn(item));
      Keys = Object(UnprocessedKeys)[this.tableName]?.Keys ?? [];
    }
    return found;
  }

  private async readOne(partitionKey: string): Promise<ParkedKey | undefined> {
    const item = await this.get(this.keyOf(partitionKey));
    return item && keyIn(item);
  }

  private async get(Key: ParkingItem): Promise<DynamoDbItem | undefined> {
    const answer = await this.client.getItem({ TableName: this.tableName, Key, ConsistentRead: true });
    return Object(answer).Item as DynamoDbItem | undefined;
  }

  /**
   * Replaces the key that has this revision, and returns the key that is stored then. An attempt whose answer was lost
   * recognises its own write by the revision.
   */
  private async put(key: ParkedKey, revision: string | undefined): Promise<ParkedKey | undefined> {
    const { revision: next, partitionKey, ...state } = key;
    const isWritten = await this.ifUnchanged(
      this.client.putItem({
        TableName: this.tableName,
        Item: {
          ...this.keyOf(partitionKey),
          revision: { S: next! },
          partitionKey: { S: partitionKey },
          state: { S: JSON.stringify(state) },
        },
        ConditionExpression: revision === undefined ? 'attribute_not_exists(#revision)' : '#revision = :revision',
        ExpressionAttributeNames: { '#revision': 'revision' },
        ...(revision !== undefined && { ExpressionAttributeValues: { ':revision': { S: revision } } }),
      }),
    );
    return isWritten ? key : this.readOne(partitionKey);
  }

  private async ifUnchanged(write: Promise<object>): Promise<boolean> {
    try {
      await write;
      return true;
    } catch (error) {
      if ((error as Error)?.name === 'ConditionalCheckFailedException') return false;
      throw error;
    }
  }

  private keyOf(partitionKey: string): Record<string, AttributeValue> {
    return { [PK]: { S: this.id('keys', partOf(partitionKey)) }, [SK]: { S: shortText(partitionKey) } };
  }

  private marksKey(): Record<string, AttributeValue> {
    return { [PK]: { S: this.id(MARKS) }, [SK]: { S: MARKS } };
  }

  private id(...names: string[]): string {
    return JSON.stringify([this.consumer, ...names]);
  }
}

/**
 * The partition keys fall into 256 parts. While no key of a part is parked, no key of it is looked up. Similar keys get different
 * parts, so that the parts are even.
 */
function partOf(partitionKey: string): string {
  return `p${createHash('sha256').update(partitionKey).digest().readUInt8(0)}`;
}

/** A text for a key of the table: the text itself, or its hash if it is long, empty, or could be taken for a hash. */
function shortText(text: string): string {
  const isShort = Buffer.byteLength(JSON.stringify(text)) <= LONGEST_TEXT_BYTES;
  if (isShort && text !== '' && !text.startsWith(HASHED)) return text;
  return `${HASHED}${createHash('sha256').update(text).digest('base64url')}`;
}

function keyIn({ revision, partitionKey, state }: DynamoDbItem): ParkedKey {
  const texts = [revision, partitionKey, state].map((value) => Object(value).S as unknown);
  if (!texts.every((text) => typeof text === 'string')) throw new CorruptParkedRecordError('its key lacks a text');
  const [revisionText, keyText, stateText] = texts as [string, string, string];
  try {
    return { ...JSON.parse(stateText), partitionKey: keyText, revision: revisionText };
  } catch {
    throw new CorruptParkedRecordError('the state of its key is not JSON');
  }
}
