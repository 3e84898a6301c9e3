import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { isConditionFailure, projectionOf } from '../../aws-client/expression';
import { backoffMs } from '../../kernel/backoff';
import { callWithin } from '../../kernel/call-within';
import type { Clock } from '../../kernel/clock';
import { Stopped, sleepUnlessAborted } from '../../kernel/pause';
import type { ShardedConfigSource, ShardedIndexConfig } from '../config/sharded-index-config';
import { CurrentConfig } from '../strays/current-config';
import { type IndexStray, isRejection, itemMove, removalOfShard } from '../strays/item-move';
import type { ItemMoveInput, ItemReshardClient } from '../strays/table-client';
import { checkKeptIndexes } from './check-kept-indexes';
import { CorrectionAllowance } from './correction-allowance';
import { byShardAttribute, correctionOf, keptAttributes } from './item-correction';

/**
 * The result of a check of an item:
 *
 * - `right`: every shard attribute is right, or the item does not exist
 * - `corrected`: the shard attributes are corrected
 * - `changed`: another writer has changed the item since it was read. The stream has a later record of the item
 * - `wrong`: a shard attribute is wrong, and the keeper only counts
 * - `contested`: the item was corrected too often
 * - `rejected`: DynamoDB rejects the correction
 * - `invalidKey`: DynamoDB rejects the correction, because a key attribute of an index has an invalid value. Only the application can
 *   correct the item
 */
export type CheckOutcome = 'right' | 'corrected' | 'changed' | 'wrong' | 'contested' | 'rejected' | 'invalidKey';

/** The result of a check, and the strays that it found. */
interface ItemCheck {
  outcome: CheckOutcome;
  /** The strays that the keeper corrects. */
  wrong: readonly IndexStray[];
  /** The strays that only the application can correct. */
  notKept: readonly IndexStray[];
}

/** Sends the first attempt of a correction. It can observe whether DynamoDB throttles the attempt. */
export type FirstAttempt = (strays: readonly IndexStray[], send: () => Promise<object>) => Promise<object>;

/** The settings of an `ItemCorrector`. */
interface CorrectorSettings {
  /** Whether items are corrected. If not, they are only counted. */
  correct: boolean;
  clock: Clock;
  random: () => number;
  firstAttempt: FirstAttempt;
}

/** The delays between the attempts of a request. A request is repeated until it is done, or until the time is over. */
const BACKOFF = { backoffBaseMs: 50, backoffCapMs: 5_000 };

/** The timeout of one attempt of a request, in milliseconds. */
const REQUEST_MS = 3_000;

/**
 * The beginning of the message of a `ValidationException` for an invalid key attribute: a type other than the type of the key, an
 * empty value, or a value that is too long. Source: the DynamoDB developer guide, "Error handling", and DynamoDB Local.
 */
const INVALID_KEY = /^One or more parameter values (?:were|are) (?:invalid|not valid)/;

/** The outcomes of an update that DynamoDB rejects. */
const REJECTED: ReadonlySet<CheckOutcome> = new Set(['rejected', 'invalidKey']);

/** Checks single items of a table, and gives each item the shard attributes that a writer would give it. */
export class ItemCorrector {
  private readonly indexes: readonly CurrentConfig[];
  private readonly allowance: CorrectionAllowance;
  /** The attributes that determine whether an item is right. */
  readonly attributes: readonly string[];
  readonly tableName: string;
  readonly tableKey: readonly string[];

  /** @throws InvalidArgumentError if one item cannot have the shard attributes of all indexes */
  constructor(
    private readonly client: ItemReshardClient,
    indexes: readonly (ShardedIndexConfig | ShardedConfigSource)[],
    private readonly settings: CorrectorSettings,
  ) {
    this.indexes = indexes.map((index) => new CurrentConfig(index));
    const configs = this.indexes.map(({ initial }) => initial as ShardedIndexConfig);
    checkKeptIndexes(configs);
    this.attributes = keptAttributes(configs);
    this.tableName = configs[0]!.tableName;
    this.tableKey = configs[0]!.tableKey;
    this.allowance = new CorrectionAllowance(settings.clock);
  }

  /**
   * Checks an item, and corrects it if necessary. Repeats a request that fails for a reason outside the item, with growing
   * delays.
   *
   * @param image the item as the caller knows it. Absent: the item is read
   * @throws the error of the last attempt if the signal aborts first
   */
  async check(
    key: DynamoDbItem,
    keyText: string,
    image: DynamoDbItem | undefined,
    signal: AbortSignal,
  ): Promise<ItemCheck> {
    const item = image ?? (await this.repeat(() => this.read(key), signal));
    if (item === undefined) return RIGHT;
    let attempt = 0;
    return this.repeat(async () => {
      // The counts can change between two attempts.
      const { wrong, notKept } = correctionOf(await this.configs(), item);
      if (wrong.length === 0) return { outcome: 'right', wrong, notKept };
      if (!this.settings.correct) return { outcome: 'wrong', wrong, notKept };
      if (!this.allowance.allows(keyText)) return { outcome: 'contested', wrong, notKept };
      attempt += 1;
      return { outcome: await this.correct(keyText, wrong, attempt === 1), wrong, notKept };
    }, signal);
  }

  /**
   * Corrects all indexes at once. If DynamoDB rejects the update, an index must not prevent the correction of the others. An index
   * that rejects the shard of the current value must not keep the shard of an earlier value.
   */
  private async correct(
    keyText: string,
    strays: readonly IndexStray[],
    isFirstAttempt: boolean,
  ): Promise<CheckOutcome> {
    const ofAll = await this.send(keyText, itemMove(strays), isFirstAttempt ? strays : undefined);
    if (!REJECTED.has(ofAll)) return ofAll;
    const outcomes = new Set<CheckOutcome>();
    const parts = byShardAttribute(strays);
    for (const part of parts) {
      const ofPart = parts.length === 1 ? ofAll : await this.send(keyText, itemMove(part));
      outcomes.add(ofPart);
      const removal = REJECTED.has(ofPart) ? removalOfShard(part) : undefined;
      if (removal !== undefined) outcomes.add(await this.send(keyText, removal));
    }
    return (['changed', 'rejected', 'invalidKey', 'corrected'] as const).find((each) => outcomes.has(each))!;
  }

  /** @param observed the strays of the update, if the update is a first attempt */
  private async send(keyText: string, move: ItemMoveInput, observed?: readonly IndexStray[]): Promise<CheckOutcome> {
    const { clock, firstAttempt } = this.settings;
    const send = () => callWithin({ ms: REQUEST_MS, clock }, () => this.client.updateItem(move));
    try {
      await (observed === undefined ? send() : firstAttempt(observed, send));
      this.allowance.spend(keyText);
      return 'corrected';
    } catch (error) {
      const { name, message }: { name?: string; message?: string } = Object(error);
      if (isConditionFailure(error)) return 'changed';
      if (name === 'ValidationException' && INVALID_KEY.test(message ?? '')) return 'invalidKey';
      if (isRejection(error)) return 'rejected';
      throw error;
    }
  }

  private async read(key: DynamoDbItem): Promise<DynamoDbItem | undefined> {
    const request = {
      TableName: this.tableName,
      Key: key,
      ConsistentRead: true,
      ReturnConsumedCapacity: 'TOTAL',
      ...projectionOf(this.attributes),
    } as const;
    const { clock } = this.settings;
    const response = await callWithin({ ms: REQUEST_MS, clock }, (options) => this.client.getItem(request, options));
    return Object(response).Item as DynamoDbItem | undefined;
  }

  private async configs(): Promise<ShardedIndexConfig[]> {
    return Promise.all(this.indexes.map(async (index) => (await index.read()) as ShardedIndexConfig));
  }

  private async repeat<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, random } = this.settings;
    let last: unknown = new Stopped();
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        return await call();
      } catch (error) {
        last = error;
      }
      await sleepUnlessAborted(backoffMs(attempt, { ...BACKOFF, random }), clock, signal);
    }
    throw last;
  }
}

const RIGHT: ItemCheck = { outcome: 'right', wrong: [], notKept: [] };
