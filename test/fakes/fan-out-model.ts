import {
  type AttributeValue,
  type DynamoDbItem,
  FanOutHistory,
  type FanOutOrder,
  type FanOutRequest,
  fanOutQuery,
  type QueryClient,
  type ShardedIndexConfig,
  type SortKeyCondition,
} from '../../lib/core';
import { positionOrder } from '../../lib/core/sharded-index/position-order';
import { isInRange, sortKeyRange } from '../../lib/core/sharded-index/sort-key-range';
import { seededRandom } from '../../lib/testing/seeded-random';
import { FakeIndex } from './fake-index';

/** An index that a case can be played on. */
export interface ModelIndex extends QueryClient {
  put(items: DynamoDbItem[]): Promise<void> | void;
  delete(items: DynamoDbItem[]): Promise<void> | void;
  /** How the service orders two items of one shard whose sort keys are equal. */
  compareTies(a: DynamoDbItem, b: DynamoDbItem): number;
  /** Shows a second copy of an item in another shard, until the returned function is called. */
  putStray?(item: DynamoDbItem): () => void;
}

/** What the service under test can do. */
export interface ModelLimits {
  layouts: ShardedIndexConfig['keyLayout'][];
  sortKeyCounts: number[];
  /** How many of the sort values, from the first, it orders as DynamoDB does. */
  sortValues: number;
  mostShards: number;
  mostItems: number;
}

export type SortType = 'S' | 'N' | 'B';

/** Items have one of so many keys. */
export const MODEL_IDS = 400;

export const EVERYTHING: ModelLimits = {
  layouts: ['multi-attribute', 'single-attribute'],
  sortKeyCounts: [0, 1, 2],
  sortValues: 6,
  mostShards: 200,
  mostItems: 150,
};

const VALUE = 'a';
const CONDITIONS = ['eq', 'lt', 'lte', 'gt', 'gte', 'between', 'beginsWith', undefined, undefined, undefined];
const TURNS_WITH_CHANGES = 8;

/** Few distinct keys, so that ties are the rule. */
function sortValue(type: SortType, rank: number): AttributeValue {
  if (type === 'N') return { N: ['-1e3', '-2', '0', '0.5', '7', '9007199254740993'][rank]! };
  const text = ['a', 'ab', 'abc', 'b', '\uff5e', '\u{10000}'][rank]!;
  return type === 'S' ? { S: text } : { B: Buffer.from(text) };
}

export function modelConfig(layout: ShardedIndexConfig['keyLayout'], sortKeys: number): ShardedIndexConfig {
  return {
    tableName: 'Jobs',
    indexName: 'byStatus',
    tableKey: ['jobId'],
    keyLayout: layout,
    valueAttribute: 'status',
    shardAttribute: 'shard',
    sortKeyAttributes: ['sort', 'tie'].slice(0, sortKeys),
    shards: { default: { write: 1, read: 1 } },
    strategy: 'calculated',
  };
}

/** A `FakeIndex` whose answers end wherever a random number says. */
export function fakeModelIndex(config: ShardedIndexConfig, random: () => number): ModelIndex {
  const index = new FakeIndex(config, {
    ...(random() < 0.5 ? { pageItems: 1 + Math.floor(random() * 20) } : {}),
    ...(random() < 0.3 ? { pageBytes: 100 + Math.floor(random() * 2_000) } : {}),
    falseLastKeys: random() < 0.5,
  });
  return {
    query: (input) => index.query(input),
    put: (items) =>
      items.forEach((item) => {
        index.put(item);
      }),
    delete: (items) =>
      items.forEach((item) => {
        index.delete(item);
      }),
    compareTies: (a, b) => index.compareTies(a, b),
    putStray: (item) => index.putStray(item),
  };
}

/**
 * Plays one case, wholly determined by its seed: an index of some items in some shards, a query that is paged to its end,
 * and between the pages items that come, go, change and move, and shard counts that grow and shrink.
 *
 * Two things are held. Each page is what an oracle says, which keeps the whole index in one sorted list: the next
 * matching items behind the position of the last item before. And, whatever the oracle says, each item that was left
 * alone is shown exactly once.
 */
export async function playFanOutCase(
  seed: number,
  limits: ModelLimits,
  indexFor: (config: ShardedIndexConfig, type: SortType, random: () => number) => ModelIndex | Promise<ModelIndex>,
): Promise<void> {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const oneOf = <E>(choices: readonly E[]): E => choices[below(choices.length)]!;

  const type = oneOf<SortType>(['S', 'N', 'B']);
  const layout = oneOf(limits.layouts);
  const sortKeys =
    layout === 'single-attribute' ? Math.min(1, oneOf(limits.sortKeyCounts)) : oneOf(limits.sortKeyCounts);
  const config = modelConfig(layout, sortKeys);
  const order = oneOf<FanOutOrder>(['ascending', 'descending', 'unordered']);
  const filtered = random() < 0.4;
  const projected = random() < 0.3;
  const history = random() < 0.5 ? new FanOutHistory() : undefined;
  let shards = 1 + below(oneOf([3, 12, 12, 50, limits.mostShards].map((most) => Math.min(most, limits.mostShards))));
  const limit = shards > 50 ? 10 + below(100) : 1 + below(oneOf([3, 10, 60]));
  const sortKey = condition(oneOf(CONDITIONS), type, below(limits.sortValues), below(limits.sortValues), sortKeys > 0);
  const request: FanOutRequest = {
    value: VALUE,
    order,
    limit,
    ...(sortKey === undefined ? {} : { sortKey }),
    ...(projected ? { projection: ['jobId'] } : {}),
    ...(filtered
      ? {
          filterExpression: '#hidden = :no',
          expressionAttributeNames: { '#hidden': 'hidden' },
          expressionAttributeValues: { ':no': { N: '0' } },
        }
      : {}),
  };

  const index = await indexFor(config, type, random);
  const table = new Map<string, DynamoDbItem>();
  const fresh = (jobId: string): DynamoDbItem => ({
    jobId: { S: jobId },
    status: { S: VALUE },
    ...shardKey(layout, below(shards)),
    sort: sortValue(type, below(limits.sortValues)),
    tie: { N: String(below(6)) },
    hidden: { N: String(below(3) && 1) },
  });
  const put = async (items: DynamoDbItem[]): Promise<void> => {
    for (const item of items) table.set(idOf(item), item);
    await index.put(items);
  };
  await put(Array.from({ length: below(oneOf([10, 60, limits.mostItems])) }, (_, number) => fresh(`job-${number}`)));
  let created = table.size;

  const range = sortKeyRange(sortKey);
  const matches = (item: DynamoDbItem): boolean =>
    (range === undefined || isInRange(item.sort as { S: string }, range)) &&
    (!filtered || (item.hidden as { N: string }).N === '0');
  const between = positionOrder(order, config.sortKeyAttributes).compare;
  const withinShard = positionOrder('ascending', config.sortKeyAttributes).compare;
  const compare = (a: DynamoDbItem, b: DynamoDbItem): number =>
    between({ item: a, shard: shardOf(a) }, { item: b, shard: shardOf(b) }) ||
    (order === 'descending' ? -1 : 1) *
      (withinShard({ item: a, shard: 0 }, { item: b, shard: 0 }) || index.compareTies(a, b));
  const sortText = (item: DynamoDbItem): string => JSON.stringify(config.sortKeyAttributes.map((name) => item[name]));

  const leftAlone = new Set(table.keys());
  const shown: string[] = [];
  let last: DynamoDbItem | undefined;
  let cursor: string | undefined;
  for (let turn = 0; ; turn++) {
    const strays = strayItems();
    const removals = strays.map((item) => index.putStray!(item));
    const expected = onceEach(
      [...table.values(), ...strays]
        .filter(matches)
        .filter((item) => last === undefined || compare(item, last) > 0)
        .filter((item) => last === undefined || idOf(item) !== idOf(last) || sortText(item) !== sortText(last))
        .sort(compare),
    ).slice(0, limit);
    const counted = { ...config, shards: { default: { write: 1, read: shards } } };
    const page = await fanOutQuery(index, counted, { ...request, cursor }, { history });
    for (const remove of removals) remove();

    const ids = page.items.map(idOf);
    // While items are at two places a page may end early, but never empty, and with a cursor.
    const early = strays.length > 0 && page.cursor !== undefined && ids.length > 0;
    const wanted = (early ? expected.slice(0, ids.length) : expected).map(idOf);
    if (ids.join() !== wanted.join()) throw new Error(`page ${turn} holds ${ids}, and should hold ${wanted}`);
    if (ids.length < limit && page.cursor !== undefined && !early)
      throw new Error(`page ${turn} is short, with a cursor`);
    shown.push(...ids);
    if (page.cursor === undefined) break;
    last = expected[ids.length - 1]!;
    cursor = page.cursor;
    if (turn < TURNS_WITH_CHANGES && random() < 0.7) await changeSomething();
  }
  for (const id of leftAlone) {
    const times = shown.filter((other) => other === id).length;
    const due = matches(table.get(id)!) ? 1 : 0;
    if (times !== due) throw new Error(`${id} was shown ${times} times, and should be ${due} times`);
  }
  await index.delete([...table.values()]);

  function strayItems(): DynamoDbItem[] {
    if (index.putStray === undefined || random() < 0.8) return [];
    const moved = [...table.values()].filter(() => random() < 0.1);
    for (const item of moved) leftAlone.delete(idOf(item));
    return moved
      .map((item) => ({ ...item, ...shardKey(layout, below(shards)) }))
      .filter((item) => shardOf(item) !== shardOf(table.get(idOf(item))!));
  }

  async function changeSomething(): Promise<void> {
    const changed: DynamoDbItem[] = [];
    if (random() < 0.2) shards = Math.min(limits.mostShards, shards + below(4));
    if (random() < 0.1 && shards > 1) {
      // Drained first: every item of the shards that go is written to another.
      shards = 1 + below(shards);
      for (const item of table.values()) {
        if (shardOf(item) >= shards) changed.push({ ...item, ...shardKey(layout, below(shards)) });
      }
      for (const item of changed) leftAlone.delete(idOf(item));
      await put(changed.splice(0));
    }
    for (let count = below(4); count > 0; count--) {
      if (created < MODEL_IDS && (table.size === 0 || random() < 0.5)) changed.push(fresh(`job-${created++}`));
      else if (table.size > 0) {
        const item = oneOf([...table.values()]);
        leftAlone.delete(idOf(item));
        if (random() < 0.5) {
          table.delete(idOf(item));
          await index.delete([item]);
        } else {
          await put([random() < 0.5 ? fresh(idOf(item)) : { ...item, ...shardKey(layout, below(shards)) }]);
        }
      }
    }
    await put(changed);
  }
}

function condition(
  kind: string | undefined,
  type: SortType,
  first: number,
  second: number,
  hasSortKey: boolean,
): SortKeyCondition | undefined {
  if (kind === undefined || !hasSortKey || (kind === 'beginsWith' && type === 'N')) return undefined;
  const operand = (rank: number): string | number | Uint8Array => {
    const value = sortValue(type, rank);
    if ('S' in value) return value.S;
    return 'B' in value ? value.B : Math.min(Number((value as { N: string }).N), 7);
  };
  if (kind !== 'between') return { [kind]: operand(first) } as unknown as SortKeyCondition;
  return { between: [operand(Math.min(first, second)), operand(Math.max(first, second))] };
}

function onceEach(items: DynamoDbItem[]): DynamoDbItem[] {
  const seen = new Set<string>();
  return items.filter((item) => !seen.has(idOf(item)) && seen.add(idOf(item)));
}

function shardKey(layout: ShardedIndexConfig['keyLayout'], shard: number): DynamoDbItem {
  return { shard: layout === 'single-attribute' ? { S: `${VALUE}#${shard}` } : { N: String(shard) } };
}

function shardOf({ shard }: DynamoDbItem): number {
  return Number(((shard as { N: string }).N ?? (shard as { S: string }).S).split('#').at(-1));
}

function idOf({ jobId }: DynamoDbItem): string {
  return (jobId as { S: string }).S;
}
