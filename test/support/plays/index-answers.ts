import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDbItem, IndexQueryInput, ShardedIndexConfig } from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { FakeIndex } from '../fakes/fake-index';
import {
  CONDITIONS,
  MODEL_IDS,
  type ModelIndex,
  type ModelLimits,
  modelConfig,
  type SortType,
  shardKey,
  sortValue,
} from '../fakes/fan-out-model';
import { createTable } from '../sharded-tables';
import { endPlay, type OnDifference } from './differences';
import { keyTypes, openIndex } from './play-on-service';

/** The number of compared responses, by the kind of the request. For an error response, the key is the message of the error. */
export type Compared = Record<string, number>;

/** The known differences of a service. See docs/models.md. */
interface KnownDifferences {
  /** Whether a read that finds no item costs no units. */
  freeEmptyReads?: boolean;
  /** Whether the size of a string is its number of characters instead of its number of bytes. */
  countsCharacters?: boolean;
  /** Whether error messages differ. */
  otherWords?: boolean;
  /**
   * Whether a page of a query with more than 1 MB of items ends at another item. Count and ScannedCount of this page then differ,
   * although the query has no filter.
   */
  endsPagesOtherwise?: boolean;
  /** Error messages of the fake for requests that AWS rejects and this service accepts. */
  takes?: readonly string[];
}

interface IndexPlay {
  calls: number;
  seed: number;
  known?: KnownDifferences;
  /** Existing tables, whose indexes can return new items with a delay. @default the test creates tables */
  deployed?: { prefix: string; settle(): Promise<void> };
  /** Called for each difference. @default the first difference ends the test */
  onDifference?: OnDifference;
}

const SHARDS = 3;
const IDS = 60;
const LARGE = 60_000;

/**
 * Sends random puts, deletes and queries to the fake index and to a service. Compares each field of the responses:
 * items and their order, both counts, the last key and the read units. Some queries are invalid on purpose.
 *
 * @throws an error that names the first call with different responses, unless `onDifference` is set
 */
export async function playIndexAnswers(service: DynamoDB, limits: ModelLimits, play: IndexPlay): Promise<Compared> {
  const { calls, seed, known = {}, deployed, onDifference = endPlay } = play;
  const compared: Compared = {};
  const random = seededRandom(seed);
  for (const { config, type } of answeredIndexes(limits, play)) {
    if (deployed === undefined) await createTable(service, config, keyTypes(config, type));
    const real = await openIndex(service, service, config, type, deployed?.settle);
    const fake = new FakeIndex(config, {
      ...{ falseLastKeys: true, takesLastPlace: true },
      compareTies: real.compareTies,
    });
    const questions = new Play(real, fake, config, type, limits.sortValues, random, known, compared, onDifference);
    for (let call = 0; call < calls; call++) await questions.next();
    if (!known.endsPagesOtherwise) await questions.passMegabyte();
  }
  return compared;
}

/** The indexes of the queries, each in its own table. */
export function answeredIndexes(
  { layouts, sortKeyCounts }: ModelLimits,
  { seed, deployed }: Pick<IndexPlay, 'seed' | 'deployed'>,
): { config: ShardedIndexConfig; type: SortType }[] {
  const random = seededRandom(seed);
  return layouts.flatMap((layout) =>
    sortKeyCounts
      .filter((count) => layout === 'multi-attribute' || count < 2)
      .map((count) => ({
        config: {
          ...modelConfig(layout, count),
          tableName: `${deployed?.prefix ?? ''}Answers-${layout}-${count}-${seed}`,
        },
        type: (['S', 'N', 'B'] as const)[Math.floor(random() * 3)]!,
      })),
  );
}

class Play {
  private readonly items = new Map<string, DynamoDbItem>();

  constructor(
    private readonly real: ModelIndex,
    private readonly fake: FakeIndex,
    private readonly config: ShardedIndexConfig,
    private readonly type: SortType,
    private readonly sortValues: number,
    private readonly random: () => number,
    private readonly known: KnownDifferences,
    private readonly compared: Compared,
    private readonly onDifference: OnDifference,
  ) {}

  async next(): Promise<void> {
    if (this.random() < 0.15) return this.write();
    await this.compare(this.draw());
  }

  /** Fills a partition with more than 1 MB, to compare where a response ends. */
  async passMegabyte(): Promise<void> {
    const pad = { S: 'x'.repeat(LARGE) };
    const large = Array.from({ length: 20 }, (_, number) => ({
      ...this.item(number),
      ...shardKey(this.config.keyLayout, 0, 0),
      pad,
    }));
    await this.put(large);
    const { FilterExpression, ProjectionExpression, Limit, ExclusiveStartKey, ConsistentRead, ...input } = this.draw();
    const { shard, status } = shardKey(this.config.keyLayout, 0, 0);
    const isMulti = this.config.keyLayout === 'multi-attribute';
    for (const ScanIndexForward of [true, false]) {
      await this.compare({
        ...input,
        ...{ ScanIndexForward, Select: 'COUNT' },
        KeyConditionExpression: isMulti ? '#shard = :shard AND #status = :status' : '#shard = :shard',
        ExpressionAttributeNames: { '#shard': 'shard', ...(isMulti && { '#status': 'status' }) },
        ExpressionAttributeValues: { ':shard': shard, ...(isMulti && { ':status': status }) },
      });
      this.count('more than a megabyte');
    }
  }

  private async compare(input: IndexQueryInput): Promise<void> {
    const expected = await outcome(() => this.real.query(input));
    const got = await outcome(() => this.fake.query(input));
    this.count(got.refusal ?? this.kindOf(input));
    const isTaken = got.refusal !== undefined && this.known.takes?.some((words) => got.refusal!.includes(words));
    if (isTaken) return;
    const [left, right] = [this.plain(got), this.plain(expected)];
    if (left !== right) {
      const short = (text: string) => text.replaceAll(/(xx|é){9,}/g, (pad) => `${pad.length} characters`);
      this.onDifference({ about: input, fake: short(left), service: short(right) });
    }
  }

  private async write(): Promise<void> {
    const changed = Array.from({ length: 1 + this.below(20) }, () => this.item(this.below(IDS)));
    const once = [...new Map(changed.map((item) => [idOf(item), item])).values()];
    const gone = [...this.items.values()]
      .filter((item) => !once.some((other) => idOf(other) === idOf(item)))
      .slice(0, this.below(5));
    await this.put(once);
    await this.real.delete(gone);
    for (const item of gone) {
      this.fake.delete(item);
      this.items.delete(idOf(item));
    }
    this.count('deleted', gone.length);
  }

  private async put(items: DynamoDbItem[]): Promise<void> {
    await this.real.put(items);
    for (const item of items) {
      this.fake.put(item);
      this.items.set(idOf(item), item);
    }
    this.count('written', items.length);
  }

  private item(number: number): DynamoDbItem {
    const size = this.oneOf([0, 0, 0, 200, 200, 5_000, LARGE]);
    return {
      jobId: { S: `job-${number}` },
      ...shardKey(this.config.keyLayout, 0, this.below(SHARDS)),
      sort: this.sort(),
      tie: { N: String(this.below(3)) },
      last: { S: this.oneOf(['x', 'y']) },
      hidden: { N: String(this.below(2)) },
      ...(size > 0 && {
        pad: { S: (this.known.countsCharacters ? 'xx' : 'é').repeat(Math.ceil((size * this.random()) / 2)) },
      }),
      ...(this.random() < 0.3 && {
        more: { M: { a: { L: [{ BOOL: true }, { NULL: true }] }, b: { SS: ['p', 'q'] } } },
      }),
    };
  }

  private draw(): IndexQueryInput {
    const { tableName: TableName, indexName: IndexName, sortKeyAttributes, keyLayout } = this.config;
    const { status, shard } = shardKey(keyLayout, 0, this.below(SHARDS));
    const names: Record<string, string> = { '#shard': 'shard' };
    const values: Record<string, AttributeValue> = { ':shard': shard! };
    const terms = ['#shard = :shard'];
    if (keyLayout === 'multi-attribute') {
      terms.push('#status = :status');
      names['#status'] = 'status';
      values[':status'] = status!;
    }
    const conditions = this.below(sortKeyAttributes.length + 1);
    for (const [place, name] of sortKeyAttributes.slice(0, conditions).entries()) {
      const kind = place < conditions - 1 ? 'eq' : this.oneOf(CONDITIONS);
      names[`#${name}`] = name;
      const [low, high] = [this.operand(name), this.operand(name)];
      values[`:${name}`] = low;
      if (kind === 'between') values[`:${name}2`] = high;
      terms.push(termOf(`#${name}`, `:${name}`, 'N' in low && kind === 'beginsWith' ? 'eq' : kind));
    }
    const filtered = this.random() < 0.3;
    if (filtered) {
      names['#hidden'] = this.random() < 0.1 ? 'shard' : 'hidden';
      values[':hidden'] = names['#hidden'] === 'shard' ? shard! : { N: '0' };
    }
    const isProjected = this.random() < 0.2;
    if (isProjected) Object.assign(names, { '#p0': 'jobId', '#p1': 'pad' });
    const mistake =
      this.random() < 0.1 ? this.oneOf(['unused name', 'unused value', 'consistent', 'no limit'] as const) : undefined;
    if (mistake === 'unused name') names['#unused'] = 'unused';
    if (mistake === 'unused value') values[':unused'] = { S: 'x' };
    const start = this.random() < 0.5 ? this.startKey({ status: status!, shard: shard! }) : undefined;
    const limit = mistake === 'no limit' ? 0 : this.oneOf([undefined, 1, 2, 5, 20, 100]);
    return {
      TableName,
      IndexName: IndexName!,
      KeyConditionExpression: terms.join(' AND '),
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ...(filtered && { FilterExpression: '#hidden = :hidden' }),
      ...(isProjected ? { ProjectionExpression: '#p0, #p1' } : this.random() < 0.1 && { Select: 'COUNT' as const }),
      ...(start && { ExclusiveStartKey: start }),
      ...(limit !== undefined && { Limit: limit }),
      ...(mistake === 'consistent' && { ConsistentRead: true }),
      ScanIndexForward: this.random() < 0.5,
      ReturnConsumedCapacity: 'TOTAL',
    };
  }

  /** A start key: the key of an existing item, the key of a missing item, or a key that AWS rejects. */
  private startKey(partition: DynamoDbItem): DynamoDbItem {
    const here = [...this.items.values()].filter(
      ({ shard }) => JSON.stringify(shard) === JSON.stringify(partition.shard),
    );
    const item =
      here.length > 0 && this.random() < 0.6 ? this.oneOf(here) : { ...this.item(this.below(MODEL_IDS)), ...partition };
    const { sortKeyAttributes, keyLayout } = this.config;
    const names = ['jobId', 'shard', ...sortKeyAttributes, ...(keyLayout === 'multi-attribute' ? ['status'] : [])];
    const mistake = this.random() < 0.2 ? this.below(3) : undefined;
    if (mistake === 0) names.push('hidden');
    if (mistake === 1 && names.length > 2) names.splice(names.indexOf(sortKeyAttributes[0] ?? 'status'), 1);
    const key = Object.fromEntries(names.map((name) => [name, item[name]!]));
    if (mistake === 2) key.shard = shardKey(keyLayout, 0, SHARDS + 1).shard!;
    return key;
  }

  private operand(name: string): AttributeValue {
    if (name === 'tie') return { N: String(this.below(3)) };
    return name === 'last' ? { S: this.oneOf(['x', 'y', 'xx']) } : this.sort();
  }

  private sort(): AttributeValue {
    return sortValue(this.type, this.below(this.sortValues));
  }

  private kindOf({ Select, FilterExpression, ExclusiveStartKey, Limit, ScanIndexForward }: IndexQueryInput): string {
    const words = [
      Select && 'counted',
      FilterExpression && 'filtered',
      ExclusiveStartKey && 'from a key',
      Limit && 'limited',
    ];
    return [ScanIndexForward ? 'forwards' : 'backwards', ...words.filter(Boolean)].join(', ');
  }

  private plain({ answer, refusal }: Outcome): string {
    if (refusal !== undefined) return this.known.otherWords ? 'refused' : refusal.split(';')[0]!;
    const { Items, Count, ScannedCount, LastEvaluatedKey, ConsumedCapacity } = answer!;
    const units = ConsumedCapacity?.CapacityUnits;
    const isFree = this.known.freeEmptyReads && ScannedCount === 0;
    return sortedJson({ Items, Count, ScannedCount, LastEvaluatedKey, units: isFree ? 'none' : units });
  }

  private count(kind: string, times = 1): void {
    this.compared[kind] = (this.compared[kind] ?? 0) + times;
  }

  private below(bound: number): number {
    return Math.floor(this.random() * bound);
  }

  private oneOf<E>(choices: readonly E[]): E {
    return choices[this.below(choices.length)]!;
  }
}

interface Outcome {
  answer?: Awaited<ReturnType<ModelIndex['query']>>;
  refusal?: string;
}

async function outcome(ask: () => ReturnType<ModelIndex['query']>): Promise<Outcome> {
  try {
    return { answer: await ask() };
  } catch (error) {
    return { refusal: `${(error as Error).name}: ${(error as Error).message}` };
  }
}

function termOf(name: string, value: string, kind: string): string {
  if (kind === 'beginsWith') return `begins_with(${name}, ${value})`;
  if (kind === 'between') return `${name} BETWEEN ${value} AND ${value}2`;
  return `${name} ${{ eq: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' }[kind]} ${value}`;
}

function idOf({ jobId }: DynamoDbItem): string {
  return (jobId as { S: string }).S;
}

/** JSON with a fixed order of members and one form of binary values. The order of a service may differ. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (name, part) => {
    if (name === 'B') return Buffer.from(part).toString('base64');
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
