import { createHash, randomUUID } from 'node:crypto';
import type { AttributeValue, DynamoDbItem } from '../aws-client/attribute-value';
import { checkClient } from '../aws-client/client-check';
import { ExpressionBuilder } from '../aws-client/expression';
import { laterFields, withLaterFields } from '../aws-client/later-fields';
import { CONSUMER_NAME, PARKING_TABLE_NAME } from '../contract/function-environment';
import { backoffMs } from '../kernel/backoff';
import { isRecord, isText } from '../kernel/checks';
import { systemClock } from '../kernel/clock';
import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';
import { checkItemFormat } from '../kernel/format-version';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { sleepUnlessAborted } from '../kernel/pause';
import { Semaphore } from '../kernel/semaphore';
import { BaseParkingStore, type ParkingStoreOptions } from './base-parking-store';
import { CorruptParkedRecordError } from './consumer-errors';
import { eitherNumber, eitherString } from './either-value';
import type { FencedMove, MoveProgress } from './fenced-move';
import { itemsOfPartition, ParkedRecords, type StorageKey } from './parked-records';
import { ParkingMarks, partOf } from './parking-marks';
import { ParkingMoves } from './parking-moves';
import type { ParkedKey, ParkedRecord, ReadOptions } from './parking-store';
import {
  itemIn,
  PARKING_TABLE_TIME_TO_LIVE,
  type ParkingItem,
  type ParkingTableClient,
  type ParkingWrite,
  PARKING_TABLE_KEY as PK,
  PARKING_TABLE_SORT_KEY as SK,
} from './parking-table';
import type { SequencePosition } from './sequence-position';

/** Options of a `DynamoDbParkingStore`. */
export interface DynamoDbParkingStoreOptions extends ParkingStoreOptions {
  /**
   * The name of the parking table. The table has the partition key `id` and the sort key `part`, both strings. Its time-to-live
   * attribute is `expiresAt`. Items of `once` and of moves have this attribute, and parked records do not have it.
   */
  tableName: string;
  /** The name of the consumer, in 1 to 128 characters. Consumers with different names can share a table. */
  consumer: string;
  /**
   * The minimum time for which `once` remembers that a record has taken effect, in days. Set it to more days than a record can
   * stay in the stream and in the parking table.
   * @default 400, because a stream keeps records for at most 365 days
   */
  rememberDays?: number;
}

const DEFAULT_REMEMBER_DAYS = 400;
const SECONDS_PER_DAY = 24 * 60 * 60;

const PARALLEL_TRANSACTIONS = 32;
const KEYS_OF_A_READ = 100;
const LONGEST_TEXT_BYTES = 500;
const HASHED = 'sha256:';
/** The maximum number of attempts for a request that DynamoDB throttles, and the delays between the attempts. */
const ATTEMPTS = 10;
const BACKOFF = { backoffBaseMs: 50, backoffCapMs: 2_000, random: Math.random };

/** The cancellation reasons after which a retry of the transaction can succeed. */
const TRANSIENT_REASONS = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);
/** The errors of a conditional write which show that another process has changed the item, or is changing the item. */
const CHANGED_ERRORS = new Set(['ConditionalCheckFailedException', 'TransactionConflictException']);

/** DynamoDB throttled the reads of parked keys. The records of the batch will be delivered again. */
class ParkingThrottledError extends EvenShardsError {
  constructor(keys: number) {
    super('PARKING_THROTTLED', `the parking table is throttled: ${keys} keys were not read`);
  }
}

/**
 * Stores parked keys in a DynamoDB table, for a consumer in several processes or functions. While no key is parked, a batch costs
 * one strongly consistent read of an item of less than 4 KB. The construct `OrderedStreamConsumer` creates such a table.
 */
export class DynamoDbParkingStore extends BaseParkingStore {
  readonly consumer: string;
  private readonly tableName: string;
  private readonly rememberSeconds: number;
  private readonly parkedRecords: ParkedRecords;
  private readonly marks: ParkingMarks;
  private readonly moves: ParkingMoves;
  /**
   * Limits the number of transactions in parallel. An outage can make thousands of keys fail at the same time, and the SDK's
   * client sends at most 50 requests in parallel.
   */
  private readonly transactions = new Semaphore(PARALLEL_TRANSACTIONS);

  /**
   * Creates the store in a Lambda function of the construct `OrderedStreamConsumer`. The construct sets environment variables
   * with the names of the table and the consumer.
   *
   * @throws InvalidArgumentError if an environment variable is missing
   */
  static fromEnvironment(client: ParkingTableClient): DynamoDbParkingStore {
    const { [PARKING_TABLE_NAME]: tableName, [CONSUMER_NAME]: consumer } = process.env;
    if (tableName === undefined || consumer === undefined) {
      const names = `${PARKING_TABLE_NAME} and ${CONSUMER_NAME}`;
      throw new InvalidArgumentError(
        'environment',
        undefined,
        `an environment with ${names} (OrderedStreamConsumer sets them)`,
      );
    }
    return new DynamoDbParkingStore(client, { tableName, consumer });
  }

  /** @throws InvalidArgumentError if the client lacks a method, or an option is out of bounds */
  constructor(
    private readonly client: ParkingTableClient,
    { tableName, consumer, rememberDays = DEFAULT_REMEMBER_DAYS, timeOfDay }: DynamoDbParkingStoreOptions,
  ) {
    super({ timeOfDay });
    checkClient(client, [
      'getItem',
      'batchGetItem',
      'query',
      'putItem',
      'updateItem',
      'deleteItem',
      'transactWriteItems',
    ]);
    if (!isText(tableName)) {
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
    this.parkedRecords = new ParkedRecords(client, tableName, consumer);
    this.marks = new ParkingMarks(client, tableName, this.id('marks'));
    this.moves = new ParkingMoves(client, tableName, consumer);
  }

  async find(partitionKeys: Iterable<string>, { signal }: ReadOptions = {}): Promise<Map<string, ParkedKey>> {
    const parts = await this.marks.parts();
    const candidates = [...partitionKeys].filter((partitionKey) => parts.has(partOf(partitionKey)));
    const pages: Promise<ParkedKey[]>[] = [];
    for (let from = 0; from < candidates.length; from += KEYS_OF_A_READ) {
      pages.push(this.read(candidates.slice(from, from + KEYS_OF_A_READ), signal));
    }
    const found = (await Promise.all(pages)).flat();
    return new Map(found.map((key) => [key.partitionKey, key]));
  }

  /**
   * Returns all parked keys, one part of the keys after the other (see `partOf`). It begins at a random part. So several replays
   * together reach every part, even if no replay has time for all parts. If a key cannot be read, the method throws after it has
   * returned the other keys.
   */
  async *keys(): AsyncGenerator<ParkedKey> {
    const parts = [...(await this.marks.parts())];
    const start = Math.floor(Math.random() * parts.length);
    const problems: unknown[] = [];
    for (const part of [...parts.slice(start), ...parts.slice(0, start)]) {
      let isEmpty = true;
      for await (const item of this.itemsOf(part)) {
        isEmpty = false;
        try {
          yield keyIn(item);
        } catch (error) {
          problems.push(error);
        }
      }
      // A process may have crashed after it removed the last key of the part and before it removed the mark. An extra mark only
      // costs reads. So errors are ignored here, for example if the caller has only read permissions.
      if (isEmpty) await this.removeMark(part).catch(() => {});
    }
    if (problems.length > 0) throw problems[0];
  }

  records(key: ParkedKey): AsyncGenerator<ParkedRecord> {
    return this.parkedRecords.records(key.partitionKey, key.first, key.next, key.storageKey as StorageKey);
  }

  async save(
    key: ParkedKey,
    appended: readonly ParkedRecord[] = [],
    { signal }: ReadOptions = {},
  ): Promise<ParkedKey | undefined> {
    const storageKey = (key.storageKey as StorageKey | undefined) ?? { id: randomUUID() };
    const saved: ParkedKey = { ...key, revision: randomUUID(), storageKey };
    const isSaved =
      key.revision === undefined
        ? await this.park(saved, appended, signal)
        : await this.write(saved, key.revision, appended, signal);
    if (!isSaved) return undefined;
    // Ignores errors, because `remove` deletes the remaining items later.
    if (appended.length === 0) await this.parkedRecords.deleteRead(key.first, storageKey).catch(() => {});
    return saved;
  }

  async remove(key: ParkedKey): Promise<boolean> {
    const { partitionKey } = key;
    const storageKey = key.storageKey as StorageKey;
    let { revision } = key;
    const names = await this.parkedRecords.names(storageKey);
    if (names.length > 0) {
      // When the key has a new revision, writes with an earlier revision fail. So no other process adds items during the
      // deletion.
      const saved = await this.save(key);
      if (saved === undefined) return (await this.readOne(partitionKey)) === undefined;
      revision = saved.revision;
      await this.parkedRecords.delete(storageKey, names);
    }
    const isRemoved = await this.ifUnchanged(
      this.client.deleteItem({
        TableName: this.tableName,
        Key: this.keyOf(partitionKey),
        ...revisionIs(new ExpressionBuilder(), revision),
      }),
    );
    // If the response to the deletion was lost, the SDK's second attempt finds no key to delete.
    if (!isRemoved && (await this.readOne(partitionKey)) !== undefined) return false;
    this.parkedRecords.forget(storageKey);
    const part = partOf(partitionKey);
    if (await this.isEmpty(part)) await this.removeMark(part);
    return true;
  }

  async markHandled(partitionKey: string, position: SequencePosition): Promise<void> {
    const { Update } = this.onceItem(partitionKey, position);
    const { ReturnValuesOnConditionCheckFailure: _, ...update } = Update;
    await this.ifUnchanged(this.client.updateItem(update));
  }

  endMove(move: FencedMove): Promise<void> {
    return this.moves.end(move);
  }

  waitForMove(move: FencedMove, waitedMs: number): Promise<MoveProgress> {
    return this.moves.wait(move, waitedMs);
  }

  onceItem(partitionKey: string, { series, number }: SequencePosition) {
    const id = this.id('done', shortText(partitionKey));
    return {
      Update: {
        TableName: this.tableName,
        Key: { [PK]: eitherString(id), [SK]: eitherString(shortText(series)) },
        UpdateExpression: 'SET #number = :number, #expiresAt = :expiresAt',
        ConditionExpression: 'attribute_not_exists(#number) OR #number < :number',
        ExpressionAttributeNames: { '#number': 'number', '#expiresAt': PARKING_TABLE_TIME_TO_LIVE },
        ExpressionAttributeValues: {
          ':number': eitherString(number),
          ':expiresAt': eitherNumber(String(this.expiresAt(id, series, number))),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      },
    };
  }

  /**
   * The time until which `once` remembers a record, in seconds since 1970. Every attempt at the record must write the same item,
   * because DynamoDB rejects a repeated `ClientRequestToken` with a different request. So the time is rounded up to a multiple of
   * a quarter of `rememberDays`. Each record has its own offset.
   */
  private expiresAt(...record: string[]): number {
    const now = Math.floor(Date.now() / 1000);
    const step = Math.ceil(this.rememberSeconds / 4);
    const phase = createHash('sha256').update(JSON.stringify(record)).digest().readUInt32BE(0) % step;
    return Math.ceil((now + this.rememberSeconds - phase) / step) * step + phase;
  }

  /** Parks a key. Readers look up a key only if its part is marked, so the mark is written before the key. */
  private async park(
    saved: ParkedKey,
    records: readonly ParkedRecord[],
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const period = await this.marks.begin(partOf(saved.partitionKey));
    const isSaved = await this.write(saved, undefined, records, signal);
    await this.marks.end(period);
    return isSaved;
  }

  /**
   * Replaces the stored key if its revision is `revision`, and appends records. Returns false if another process has changed the
   * key. If a response was lost, the revision of the stored key shows whether the write has succeeded.
   */
  private async write(
    saved: ParkedKey,
    revision: string | undefined,
    records: readonly ParkedRecord[],
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { partitionKey, next } = saved;
    const groups = this.parkedRecords.itemsOf(saved.storageKey as StorageKey, next - records.length, records);
    const last = groups.pop() ?? [];
    let before = revision;
    for (const group of groups) {
      // This transaction gives the stored key a new revision. Readers ignore the appended records until the last transaction of
      // the write has succeeded.
      const now = randomUUID();
      const key =
        before === undefined
          ? this.putOf({ ...saved, revision: now, next: saved.first, parkedUpTo: {}, dead: false })
          : this.revisionOf(partitionKey, before, now);
      if (!(await this.transact([key, ...this.putsOf(group)], signal))) return false;
      before = now;
    }
    const put = this.putOf(saved, before);
    const isWritten =
      last.length === 0
        ? await this.ifUnchanged(this.client.putItem(put.Put))
        : await this.transact([put, ...this.putsOf(last)], signal);
    return isWritten || (await this.readOne(partitionKey))?.revision === saved.revision;
  }

  /**
   * Sends a transaction, and retries it while DynamoDB throttles it or another transaction uses the same items. The signal also
   * ends the retries of the SDK.
   */
  private async transact(TransactItems: ParkingWrite[], signal: AbortSignal | undefined): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      await new Promise<void>((resolve) => this.transactions.acquire(resolve));
      try {
        signal?.throwIfAborted();
        await this.client.transactWriteItems({ TransactItems }, { abortSignal: signal });
        return true;
      } catch (error) {
        const { name, CancellationReasons: reasons } = Object(error);
        if (name !== 'TransactionCanceledException' || !Array.isArray(reasons)) throw error;
        const codes = reasons.map((reason) => Object(reason).Code);
        if (codes.includes('ConditionalCheckFailed')) return false;
        if (!codes.some((code) => TRANSIENT_REASONS.has(code)) || attempt === ATTEMPTS) throw error;
      } finally {
        this.transactions.release();
      }
      await systemClock.sleep(backoffMs(attempt, BACKOFF));
    }
  }

  private putOf(key: ParkedKey, revision?: string) {
    const { revision: next, partitionKey, ...state } = key;
    return {
      Put: {
        TableName: this.tableName,
        Item: {
          ...laterFields<ParkingItem>(key, {}),
          ...this.keyOf(partitionKey),
          revision: { S: next! },
          partitionKey: { S: partitionKey },
          state: { S: JSON.stringify(state) },
        },
        ...revisionIs(new ExpressionBuilder(), revision),
      },
    };
  }

  private revisionOf(partitionKey: string, before: string, now: string): ParkingWrite {
    const builder = new ExpressionBuilder();
    const UpdateExpression = `SET ${builder.name('revision')} = ${builder.value({ S: now })}`;
    const expressions = { UpdateExpression, ...revisionIs(builder, before) };
    return { Update: { TableName: this.tableName, Key: this.keyOf(partitionKey), ...expressions } };
  }

  private putsOf(items: readonly ParkingItem[]): ParkingWrite[] {
    return items.map((Item) => ({ Put: { TableName: this.tableName, Item } }));
  }

  private removeMark(part: string): Promise<void> {
    return this.marks.removeIf(part, () => this.isEmpty(part));
  }

  private async isEmpty(part: string): Promise<boolean> {
    for await (const _ of this.itemsOf(part, { first: 1 })) return false;
    return true;
  }

  private itemsOf(part: string, page?: { first: number }): AsyncGenerator<DynamoDbItem> {
    return itemsOfPartition(this.client, this.tableName, this.id('keys', part), page);
  }

  /** @throws ParkingThrottledError if DynamoDB has not read all keys after the last attempt, or when the signal aborts */
  private async read(partitionKeys: readonly string[], signal: AbortSignal | undefined): Promise<ParkedKey[]> {
    if (partitionKeys.length === 1) {
      const key = await this.readOne(partitionKeys[0]!);
      return key === undefined ? [] : [key];
    }
    const found: ParkedKey[] = [];
    let Keys: ParkingItem[] = partitionKeys.map((partitionKey) => this.keyOf(partitionKey));
    for (let attempt = 1; ; attempt++) {
      const { Responses, UnprocessedKeys } = Object(
        await this.client.batchGetItem({ RequestItems: { [this.tableName]: { Keys, ConsistentRead: true } } }),
      );
      const items = Object(Responses)[this.tableName];
      if (!Array.isArray(items)) throw new IncompleteAnswerError('BatchGetItem', 'the items of the table');
      for (const item of items) found.push(keyIn(item));
      const unread: ParkingItem[] = Object(UnprocessedKeys)[this.tableName]?.Keys ?? [];
      if (unread.length === 0) return found;
      // If a response has some of the keys, the count of attempts starts again.
      if (unread.length < Keys.length) attempt = 1;
      Keys = unread;
      if (attempt < ATTEMPTS) await sleepUnlessAborted(backoffMs(attempt, BACKOFF), systemClock, signal);
      if (attempt === ATTEMPTS || signal?.aborted) throw new ParkingThrottledError(unread.length);
    }
  }

  private async readOne(partitionKey: string): Promise<ParkedKey | undefined> {
    const response = await this.client.getItem({
      TableName: this.tableName,
      Key: this.keyOf(partitionKey),
      ConsistentRead: true,
    });
    const item = itemIn(response);
    return item && keyIn(item);
  }

  private async ifUnchanged(write: Promise<object>): Promise<boolean> {
    try {
      await write;
      return true;
    } catch (error) {
      if (CHANGED_ERRORS.has((error as Error)?.name)) return false;
      throw error;
    }
  }

  private keyOf(partitionKey: string): Record<string, AttributeValue> {
    return { [PK]: { S: this.id('keys', partOf(partitionKey)) }, [SK]: { S: shortText(partitionKey) } };
  }

  private id(...names: string[]): string {
    return JSON.stringify([this.consumer, ...names]);
  }
}

/** The condition of a write: the stored key has this revision or, if `revision` is undefined, the key is not parked. */
function revisionIs(builder: ExpressionBuilder, revision: string | undefined) {
  const name = builder.name('revision');
  return builder.request({
    ConditionExpression:
      revision === undefined ? `attribute_not_exists(${name})` : `${name} = ${builder.value({ S: revision })}`,
  });
}

/** A text for a key attribute of the table: the text itself, or its hash if the text is long, is empty, or begins like a hash. */
function shortText(text: string): string {
  const isShort = Buffer.byteLength(JSON.stringify(text)) <= LONGEST_TEXT_BYTES;
  if (isShort && text !== '' && !text.startsWith(HASHED)) return text;
  return `${HASHED}${createHash('sha256').update(text).digest('base64url')}`;
}

function keyIn(item: DynamoDbItem): ParkedKey {
  checkItemFormat('parked key', item);
  const { [PK]: _, [SK]: __, revision, partitionKey, state, ...others } = item;
  const texts = [revision, partitionKey, state].map((value) => Object(value).S as unknown);
  if (!texts.every((text) => typeof text === 'string'))
    throw new CorruptParkedRecordError('an attribute of its key is not a string');
  const [revisionText, keyText, stateText] = texts as [string, string, string];
  return withLaterFields({ ...stateIn(stateText), partitionKey: keyText, revision: revisionText }, others);
}

type ParkedState = Omit<ParkedKey, 'partitionKey' | 'revision'>;

const NUMBERS_OF_STATE = ['first', 'next', 'since', 'tries', 'retries', 'dueAt'] as const;

function stateIn(text: string): ParkedState {
  try {
    const state: ParkedState = JSON.parse(text);
    if (NUMBERS_OF_STATE.every((name) => Number.isFinite(state[name])) && isRecord(state.parkedUpTo)) return state;
  } catch {
    // The error below is for invalid JSON and for JSON without the fields of a parked key.
  }
  throw new CorruptParkedRecordError('the state of its key is not JSON with the fields of a parked key');
}
