import {
  type AttributeValue,
  type DynamoDbItem,
  EvenShardsError,
  FanOutHistory,
  type FanOutOptions,
  type FanOutOrder,
  type FanOutRequest,
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  type IndexQueryInput,
  type IndexQueryOutput,
  type QueryClient,
  type ShardedIndexConfig,
} from '../../../lib/core';
import { compareAttributeValues } from '../../../lib/core/sharded-index/query/attribute-order';
import { decodeCursor } from '../../../lib/core/sharded-index/query/cursor';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { indexConfig } from '../index-config';
import { FakeIndex } from './fake-index';

/** The index of one case. */
export interface ModelIndex extends QueryClient {
  put(items: DynamoDbItem[]): Promise<void> | void;
  delete(items: DynamoDbItem[]): Promise<void> | void;
  /** The order of two items of one shard with the same sort key. */
  compareTies(a: DynamoDbItem, b: DynamoDbItem): number;
  /** Adds a second copy of an item in another shard. The returned function removes the copy. */
  putStray?(item: DynamoDbItem): () => void;
}

/** The abilities of the tested service. */
export interface ModelLimits {
  layouts: ShardedIndexConfig['keyLayout'][];
  sortKeyCounts: number[];
  /** The number of sort values that the cases use. The service must order these values as DynamoDB does. */
  sortValues: number;
  mostShards: number;
  mostItems: number;
}

export type SortType = 'S' | 'N' | 'B';

/** The number of different keys of the items. */
export const MODEL_IDS = 400;

/** The attributes of a sort key, and the types of the second and third attribute. */
const MODEL_SORT_KEYS = ['sort', 'tie', 'last'] as const;
export const MODEL_TIE_TYPES = { tie: 'N', last: 'S' } as const;

export const EVERYTHING: ModelLimits = {
  layouts: ['multi-attribute', 'single-attribute'],
  sortKeyCounts: [0, 1, 2, 3],
  sortValues: 6,
  mostShards: 200,
  mostItems: 150,
};

/** The values of the index. A query reads the first value or both values. */
const VALUES = ['a', 'b'];
/** The conditions that compare with one value, each as a condition on the difference to this value. */
const COMPARED: Record<string, (difference: number) => boolean> = {
  eq: (difference) => difference === 0,
  lt: (difference) => difference < 0,
  lte: (difference) => difference <= 0,
  gt: (difference) => difference > 0,
  gte: (difference) => difference >= 0,
};
export const CONDITIONS = [...Object.keys(COMPARED), 'between', 'beginsWith'];
const TURNS_WITH_CHANGES = 8;

/** After this number of consecutive failures, a page is read without faults and without a deadline. */
const MAX_FAILURES = 3;

const HANGING_MS = 10_000;
const MAX_INDEX_SHARDS = 10_000;

/** The maximum number of bytes of the padding attribute. Some items are larger than one block of DynamoDB (4 KB). */
const MAX_PADDING = 5_000;

/** Sort keys have few different values, so that most items share their sort key with another item. */
export function sortValue(type: SortType, rank: number): AttributeValue {
  if (type === 'N') return { N: ['-1e3', '-2', '0', '0.5', '7', '9007199254740993'][rank]! };
  const text = ['a', 'ab', 'abc', 'b', '\uff5e', '\u{10000}'][rank]!;
  return type === 'S' ? { S: text } : { B: Buffer.from(text) };
}

export function modelConfig(layout: ShardedIndexConfig['keyLayout'], sortKeys: number): ShardedIndexConfig {
  return indexConfig({ keyLayout: layout, sortKeyAttributes: MODEL_SORT_KEYS.slice(0, sortKeys) });
}

/** A `FakeIndex` whose responses end after a random number of items. */
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

/** The rates of faults between a query and its index. */
interface Weather {
  hanging: number;
  failing: number;
}

/**
 * The network between a query and an index, with a virtual clock. Responses can be slow, missing, failed or empty.
 */
class UnreliableNetwork implements QueryClient {
  readonly clock = new VirtualClock();
  weather: Weather = { hanging: 0, failing: 0 };
  /** Changes by other processes during a response. */
  meanwhile: () => Promise<void> | void = () => {};
  private asking = 0;

  constructor(
    private readonly index: QueryClient,
    private readonly random: () => number,
  ) {}

  async query(input: IndexQueryInput): Promise<IndexQueryOutput> {
    const { hanging, failing } = this.weather;
    const ms = this.random() < hanging ? HANGING_MS : 1 + Math.floor(this.random() * 50);
    const fails = this.random() < failing ? Math.floor(this.random() * 4) : undefined;
    await this.clock.sleep(ms);
    if (fails === 0) throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    if (fails === 1) throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' });
    if (fails === 2) return {};
    this.asking += 1;
    try {
      await this.meanwhile();
      return await this.index.query(input);
    } finally {
      this.asking -= 1;
    }
  }

  /** Advances the virtual time until the work is done. The index itself takes no virtual time. */
  async played<T>(work: Promise<T>): Promise<T> {
    return this.clock.runUntil(work, async () => {
      do await new Promise((resolve) => setImmediate(resolve));
      while (this.asking > 0);
    });
  }
}

/**
 * Runs one case from a seed. It creates an index with items in several shards, and reads all pages of a query over an
 * unreliable network with deadlines. Between the pages, items are inserted, deleted, changed and moved, and shard
 * counts increase and decrease. In every fifth case, items are also inserted, deleted and replaced between the reads of
 * a page. An item that was inserted or deleted between the reads may be on this page or not.
 *
 * The case checks three rules. Each page equals the result of an oracle, which keeps the whole index in one list and
 * returns the matching items between two cursors, in order. Each cursor is after the previous cursor. Each item that
 * did not change is returned exactly once.
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
  const history = random() < 0.5 ? new FanOutHistory() : undefined;
  const requestedValues = random() < 0.3 ? VALUES : VALUES.slice(0, 1);
  const mostShards = oneOf([3, 12, 12, 50, limits.mostShards].map((most) => Math.min(most, limits.mostShards)));
  const shards = VALUES.map(() => 1 + below(mostShards));
  const limit = mostShards > 50 ? 10 + below(100) : 1 + below(oneOf([3, 10, 60]));
  const distinct = random() < 0.3 ? 1 : limits.sortValues;
  const unreliable = random() < 0.5;
  const inRuns = random() < 0.3;
  const padding = random() < 0.3 ? MAX_PADDING : 0;
  const maxPageBytes = random() < 0.2 ? 1 + below(200) : undefined;
  const { sortKey, selects } = randomSelect();
  const maxReadUnits = drawReadUnits();
  const changing = seed % 5 === 4 ? oneOf([0.05, 0.3, 0.8]) : 0;
  const request: FanOutRequest = {
    ...(requestedValues.length > 1 ? { values: requestedValues } : { value: requestedValues[0] }),
    order,
    limit,
    ...(maxReadUnits === undefined ? {} : { maxReadUnits }),
    ...(sortKey === undefined ? {} : { sortKey }),
    ...(random() < 0.3 ? { projection: ['jobId'] } : {}),
    ...(filtered
      ? {
          filterExpression: '#hidden = :no',
          expressionAttributeNames: { '#hidden': 'hidden' },
          expressionAttributeValues: { ':no': { N: '0' } },
        }
      : {}),
  };

  const index = await indexFor(config, type, random);
  const network = new UnreliableNetwork(index, random);
  const table = new Map<string, DynamoDbItem>();
  const fresh = (jobId: string): DynamoDbItem => {
    const rank = below(distinct);
    return {
      jobId: { S: jobId },
      ...placeOf(below(requestedValues.length), rank),
      sort: sortValue(type, rank),
      tie: { N: String(below(6)) },
      last: { S: oneOf(['x', 'y']) },
      hidden: { N: String(below(3) && 1) },
      ...(padding > 0 && { pad: { S: 'x'.repeat(below(padding)) } }),
    };
  };
  const put = async (items: DynamoDbItem[]): Promise<void> => {
    for (const item of items) table.set(idOf(item), item);
    await index.put(items);
  };
  await put(Array.from({ length: below(oneOf([10, 60, limits.mostItems])) }, (_, number) => fresh(`job-${number}`)));
  let created = table.size;

  const matches = (item: DynamoDbItem): boolean =>
    selects(item) && (!filtered || (item.hidden as { N: string }).N === '0');
  const direction = order === 'descending' ? -1 : 1;
  const compare = comparePlaces(config, order, index);
  const isSame = (a: DynamoDbItem, b: DynamoDbItem): boolean =>
    idOf(a) === idOf(b) && config.sortKeyAttributes.every((name) => compareAttributeValues(a[name]!, b[name]!) === 0);

  const expected = (): string[] =>
    [...table.values()].filter((item) => requestedValues.includes(indexValueOf(item)) && matches(item)).map(idOf);
  if (random() < 0.3) await checkCount();
  if (random() < 0.3) await checkStreams();

  const leftAlone = new Set(table.keys());
  /** The items that were inserted, and the items that were deleted or replaced, since the page was requested. */
  const inserted = new Set<string>();
  const touched = new Set<string>();
  const shown: string[] = [];
  let last: DynamoDbItem | undefined;
  let cursor: string | undefined;
  let failures = 0;
  for (let turn = 0; ; turn++) {
    const strays = strayItems();
    const removals = strays.map((item) => index.putStray!(item));
    const rest = onceEach(
      [...table.values(), ...strays]
        .filter((item) => requestedValues.includes(indexValueOf(item)) && matches(item))
        .filter((item) => last === undefined || compare(item, last) > 0)
        .filter((item) => last?.jobId === undefined || !isSame(item, last))
        .sort(compare),
    );
    const { stormy, options } = nextWeather(failures);
    const { deadlineMs } = options;
    const partial = stormy && strays.length === 0 && random() < 0.2;
    inserted.clear();
    touched.clear();
    const isSteady = partial || strays.length > 0 || turn > 2 * TURNS_WITH_CHANGES;
    network.meanwhile = async () => {
      if (!isSteady && random() < changing) await changeDuringRead();
    };
    const bounds = { maxPageBytes, bytesOf: bytesOfPage, onShardFailure: partial ? 'partial' : 'fail' } as const;
    const query = fanOutQuery(network, countedConfig(), { ...request, cursor }, { ...options, ...bounds });
    const page = await network.played(query).catch((error: unknown) => failure(error, stormy));
    for (const remove of removals) remove();
    network.meanwhile = () => {};
    if (page === undefined) {
      failures += 1;
      continue;
    }
    failures = 0;

    const next = page.cursor === undefined ? undefined : positionOf(page.cursor);
    if (next !== undefined && last !== undefined && !isAhead(next, last)) {
      throw new Error(`the cursor of page ${turn} does not advance from ${textOf(last)} to ${textOf(next)}`);
    }
    const ids = page.items.map(idOf);
    const missing = new Set(page.missingShards);
    if (missing.size > 0 && !partial) throw new Error(`page ${turn} lacks shards`);
    const isDue = (item: DynamoDbItem): boolean => !missing.has(numberOf(item)) && !touched.has(idOf(item));
    const due = (next === undefined ? rest : rest.filter((item) => compare(item, next) <= 0)).filter(isDue).map(idOf);
    const known = ids.filter((id) => !inserted.has(id) && !touched.has(id));
    const got = missing.size === 0 ? known : known.filter((id) => isDue(table.get(id)!) && due.includes(id));
    // While an item is in two shards, a page may have fewer items than its limit, but it is not empty and has a cursor.
    const early = strays.length > 0 && page.cursor !== undefined;
    const expectedIds = early || missing.size > 0 ? due.filter((id) => got.includes(id)) : due;
    if (got.join() !== expectedIds.join() || (missing.size > 0 && !early && due.length !== got.length)) {
      throw new Error(`page ${turn} contains ${ids} instead of ${due}, with the missing shards ${page.missingShards}`);
    }
    const added = ids.filter((id) => !touched.has(id)).map((id) => table.get(id)!);
    for (const [nth, item] of inserted.size > 0 ? added.entries() : []) {
      const isIn = (last === undefined || compare(item, last) > 0) && (next === undefined || compare(item, next) <= 0);
      if (!matches(item) || !isIn) throw new Error(`page ${turn} contains ${idOf(item)}, which is not of the page`);
      if (nth > 0 && compare(item, added[nth - 1]!) <= 0) throw new Error(`page ${turn} has a wrong order`);
    }
    const changed = inserted.size + touched.size > 0;
    const ofPage = page.stats.consumedReadUnits;
    if (!stormy && strays.length === 0 && !changed && ofPage > mostUnits()) {
      throw new Error(
        `page ${turn} costs ${ofPage} units with maxReadUnits ${maxReadUnits}, instead of at most ${mostUnits()}`,
      );
    }
    // A page that reaches `maxReadUnits` may contain fewer items or no items, but the next page continues after it.
    const cutByUnits = maxReadUnits !== undefined && page.cursor !== undefined;
    const isComplete = deadlineMs === undefined && missing.size === 0 && !early && !cutByUnits && !changed;
    const whole = Math.min(limit, rest.length, mostThatFit(rest));
    if (isComplete && ids.length !== whole) {
      throw new Error(`page ${turn} contains ${ids.length} items instead of ${whole}`);
    }
    if (page.stats.requests < page.stats.hedged + page.stats.throttled)
      throw new Error('the statistics are inconsistent');
    for (const item of missing.size > 0 ? rest : []) if (!isDue(item)) leftAlone.delete(idOf(item));
    shown.push(...ids);
    if (page.cursor === undefined) break;
    last = next;
    cursor = page.cursor;
    if (turn < TURNS_WITH_CHANGES && random() < 0.7) await changeSomething();
  }
  for (const id of leftAlone) {
    const times = shown.filter((other) => other === id).length;
    const due = requestedValues.includes(indexValueOf(table.get(id)!)) && matches(table.get(id)!) ? 1 : 0;
    if (times !== due) throw new Error(`${id} was returned ${times} times instead of ${due} times`);
  }
  await index.delete([...table.values()]);

  /** Sets the faults of the network for the next call. Returns options of the caller that suit these faults. */
  function nextWeather(failures: number): { stormy: boolean; options: FanOutOptions } {
    const stormy = unreliable && failures < MAX_FAILURES;
    network.weather = stormy ? { hanging: 0.1 * random(), failing: 0.2 * random() } : { hanging: 0, failing: 0 };
    const options = {
      history,
      clock: network.clock,
      random,
      deadlineMs: stormy && random() < 0.7 ? 20 + below(300) : undefined,
      attempts: 2 + below(3),
      concurrency: oneOf([1, 3, 50]),
      ...(history !== undefined && { hedgeBudget: 0.1 * random() }),
    };
    return { stormy, options };
  }

  /** Counts the items of the query. After a fault, another call continues the count. */
  async function checkCount(): Promise<void> {
    const { order: _, limit: __, maxReadUnits: ____, projection: ___, ...what } = request;
    let [total, failures] = [0, 0];
    for (let at: string | undefined, done = false; !done; ) {
      const { stormy, options } = nextWeather(failures);
      const counting = fanOutCount(network, countedConfig(), { ...what, cursor: at }, options);
      const answer = await network.played(counting).catch((error: unknown) => failure(error, stormy));
      failures = answer === undefined ? failures + 1 : 0;
      if (answer === undefined) continue;
      total += answer.count;
      at = answer.cursor;
      done = at === undefined;
    }
    if (total !== expected().length) throw new Error(`${total} items were counted instead of ${expected().length}`);
  }

  /**
   * Streams the items of the query, one segment after the other. After a fault, or if the consumer has stopped early, a new stream
   * continues the segment.
   */
  async function checkStreams(): Promise<void> {
    const { order: _, limit: __, maxReadUnits: ___, ...what } = request;
    const taken: string[] = [];
    const due = expected();
    const totalSegments = changing > 0 ? 1 : 1 + below(3);
    const most = seededRandom(seed)() < 0.3 ? 1 + (seed % 20) : undefined;
    for (let segment = 0; segment < totalSegments; segment++) {
      let failures = 0;
      for (let resumeAt: string | undefined, first = true; first || resumeAt !== undefined; first = false) {
        const { stormy, options } = nextWeather(failures);
        const segmented = { ...what, limit: most, segment, totalSegments, resumeAt };
        const stream = fanOutItems(network, countedConfig(), segmented, options);
        const before = taken.length;
        const enough = taken.length + (random() < 0.5 ? 1 + below(20) : Number.POSITIVE_INFINITY);
        const consume = async (): Promise<void> => {
          for await (const item of stream) if (taken.push(idOf(item)) === enough) return;
        };
        await network.played(consume()).catch((error: unknown) => {
          failures += 1;
          return failure(error, stormy);
        });
        resumeAt = stream.resumePoint;
        if (changing > 0 && random() < 0.5) await changeDuringStreams();
        if (taken.length - before > (most ?? Number.POSITIVE_INFINITY))
          throw new Error(`a stream returned more than ${most} items`);
      }
    }
    const dueIds = new Set(due);
    const returned = changing > 0 ? taken.filter((id) => dueIds.has(id)) : taken;
    if (new Set(taken).size < taken.length || returned.sort().join() !== due.sort().join())
      throw new Error(`${taken} were streamed instead of ${due}`);
  }

  /** The size of an item for `maxPageBytes`. */
  function bytesOfPage(item: DynamoDbItem): number {
    return 1 + (Number(idOf(item).split('-').at(-1)) % 7);
  }

  /** Whether an item and a position have the same sort key. Compares only the attributes that the position has. */
  function isLevel(item: DynamoDbItem, at: DynamoDbItem): boolean {
    const named = config.sortKeyAttributes.filter((name) => at[name] !== undefined);
    return named.every((name) => compareAttributeValues(item[name]!, at[name]!) === 0);
  }

  /**
   * Returns `maxReadUnits`, which is undefined in most cases. With the smallest value nearly every page ends early, and with the
   * largest value no page ends early.
   */
  function drawReadUnits(): number | undefined {
    // A separate random sequence, so that these values do not change the case of a seed.
    const drawn = seededRandom(~seed)();
    return drawn < 0.15 ? 0.5 * 800 ** (drawn / 0.15) : undefined;
  }

  /**
   * The maximum cost of a page: `maxReadUnits`, or the cost of the smallest page from which a next page can continue,
   * if this cost is higher.
   */
  function mostUnits(): number {
    if (maxReadUnits === undefined) return Number.POSITIVE_INFINITY;
    const all = requestedValues.reduce((sum, _, value) => sum + shards[value]!, 0);
    const ahead = [...table.values()].filter(
      (item) => selects(item) && (last === undefined || compare(item, last) > 0),
    );
    const holding = new Set(ahead.filter((item) => requestedValues.includes(indexValueOf(item))).map(numberOf)).size;
    // No page can end in a shard without matching items.
    const count = order === 'unordered' ? 1 + all - holding : all;
    // The query may read the items with the sort key of the cursor again. This takes at most one more response for each
    // of these items.
    const again = last === undefined ? 0 : [...table.values()].filter((item) => isLevel(item, last!)).length;
    const blocksOfItem = padding > 0 ? 2 : 1;
    return Math.max(maxReadUnits, (count * blocksOfItem) / 2) + (filtered ? count / 2 : 0) + again / 2;
  }

  function mostThatFit(items: readonly DynamoDbItem[]): number {
    let bytes = 0;
    const end = items.findIndex((item) => {
      bytes += bytesOfPage(item);
      return bytes > (maxPageBytes ?? Number.POSITIVE_INFINITY);
    });
    return end === -1 ? items.length : Math.max(1, end);
  }

  /** Handles a failed page, which is read again. Only faults of the network may fail a page. */
  function failure(error: unknown, stormy: boolean): undefined {
    const { name = '', code = '' } = Object(error);
    const known = ['ThrottlingException', 'ShardsUnavailableError', 'IncompleteAnswerError'].includes(name);
    if (!stormy || !(known || code === 'ECONNRESET')) throw error;
    if (error instanceof EvenShardsError && error.code === '') throw error;
    return undefined;
  }

  function countedConfig(): ShardedIndexConfig {
    const counts = VALUES.map((value, number) => [value, { write: 1, read: shards[number]! }]);
    return { ...config, shards: { ...config.shards, byValue: Object.fromEntries(counts) } };
  }

  /** The position of a cursor as an item, in which some attributes may be absent. */
  function positionOf(of: string): DynamoDbItem {
    const { item, shard } = decodeCursor(countedConfig(), { ...request, cursor: of })!;
    if (!Number.isFinite(shard)) return onlySortKey(config, item);
    return { ...item, ...shardKey(layout, Math.floor(shard / MAX_INDEX_SHARDS), shard % MAX_INDEX_SHARDS) };
  }

  function isAhead(next: DynamoDbItem, before: DynamoDbItem): boolean {
    const absent = config.sortKeyAttributes.find((name) => next[name] === undefined);
    if (absent === undefined) return compare(next, before) > 0;
    // The position is after all items that have the attribute values of the position, and before all later items.
    const named = config.sortKeyAttributes.filter((name) => next[name] !== undefined);
    for (const name of named) {
      if (before[name] === undefined) return false;
      const difference = direction * compareAttributeValues(next[name]!, before[name]!);
      if (difference !== 0) return difference > 0;
    }
    return before[absent] !== undefined;
  }

  /** If the items are in runs, the items with the same sort value are in one shard. */
  function placeOf(value: number, rank?: number): DynamoDbItem {
    return shardKey(layout, value, inRuns && rank !== undefined ? (7 * rank) % shards[value]! : below(shards[value]!));
  }

  function strayItems(): DynamoDbItem[] {
    if (index.putStray === undefined || random() < 0.8) return [];
    const moved = [...table.values()].filter(() => random() < 0.1);
    for (const item of moved) leftAlone.delete(idOf(item));
    return moved
      .map((item) => ({ ...item, ...placeOf(below(requestedValues.length)) }))
      .filter((item) => numberOf(item) !== numberOf(table.get(idOf(item))!));
  }

  async function changeSomething(): Promise<void> {
    const changed: DynamoDbItem[] = [];
    for (const value of requestedValues.keys()) {
      if (random() < 0.2) shards[value] = Math.min(limits.mostShards, shards[value]! + below(4));
      if (random() < 0.1 && shards[value]! > 1) {
        // Before a decrease, every item of the removed shards moves to another shard.
        shards[value] = 1 + below(shards[value]!);
        for (const item of table.values()) {
          const drained = indexValueOf(item) === VALUES[value] && numberOf(item) % MAX_INDEX_SHARDS >= shards[value]!;
          if (drained) changed.push({ ...item, ...placeOf(value) });
        }
        for (const item of changed) leftAlone.delete(idOf(item));
        await put(changed.splice(0));
      }
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
          await put([random() < 0.5 ? fresh(idOf(item)) : { ...item, ...placeOf(below(requestedValues.length)) }]);
        }
      }
    }
    await put(changed);
  }

  /** Changes the shard count of the first value, and inserts an item. A count decreases only if no item is in a removed shard. */
  async function changeDuringStreams(): Promise<void> {
    const items = [...table.values()].filter((item) => indexValueOf(item) === VALUES[0]);
    const used = Math.max(...items.map((item) => 1 + numberOf(item)), 1);
    shards[0] = Math.max(used, Math.min(limits.mostShards, shards[0]! - 2 + below(5)));
    if (created < MODEL_IDS) await put([fresh(`job-${created++}`)]);
  }

  /** Inserts items, or deletes or replaces an item. A query can still read the earlier version of such an item. */
  async function changeDuringRead(): Promise<void> {
    if (random() < 0.7 || table.size === 0) {
      const items = Array.from({ length: Math.min(1 + below(3), MODEL_IDS - created) }, () =>
        fresh(`job-${created++}`),
      );
      for (const item of items) inserted.add(idOf(item));
      return put(items);
    }
    const item = oneOf([...table.values()]);
    leftAlone.delete(idOf(item));
    touched.add(idOf(item));
    if (random() < 0.5) return put([fresh(idOf(item))]);
    table.delete(idOf(item));
    await index.delete([item]);
  }

  /**
   * A condition on any number of sort key attributes, and the function with which the oracle checks the same condition.
   */
  function randomSelect(): { sortKey: FanOutRequest['sortKey']; selects(item: DynamoDbItem): boolean } {
    if (sortKeys === 0 || random() < 0.3) return { sortKey: undefined, selects: () => true };
    const named = config.sortKeyAttributes.slice(0, 1 + below(sortKeys));
    const conditions = named.map((name, place) => {
      const kinds = place < named.length - 1 ? ['eq'] : CONDITIONS;
      const operand = (): AttributeValue => {
        if (name === 'tie') return { N: String(below(6)) };
        return name === 'last' ? { S: oneOf(['x', 'y', 'xx']) } : sortValue(type, below(limits.sortValues));
      };
      return randomCondition(name, oneOf(kinds), operand);
    });
    const fields = Object.fromEntries(conditions.map(({ name, field }) => [name, field]));
    return {
      sortKey: (named.length === 1 && random() < 0.5 ? fields.sort : fields) as FanOutRequest['sortKey'],
      selects: (item) => conditions.every(({ selects: each }) => each(item)),
    };
  }
}

/**
 * Compares by sort key if the query has an order, then by shard, and then in the order of the service for equal sort
 * keys.
 */
function comparePlaces(
  { sortKeyAttributes }: ShardedIndexConfig,
  order: FanOutOrder,
  index: Pick<ModelIndex, 'compareTies'>,
): (a: DynamoDbItem, b: DynamoDbItem) => number {
  const direction = order === 'descending' ? -1 : 1;
  return (a, b) => {
    const bySortKey = (): number => {
      for (const attribute of sortKeyAttributes) {
        if (b[attribute] === undefined) return -1;
        const difference = direction * compareAttributeValues(a[attribute]!, b[attribute]!);
        if (difference !== 0) return difference;
      }
      return 0;
    };
    const byPlace = behindAllShards(a, b) ?? direction * (numberOf(a) - numberOf(b));
    const ranked = (): number => (b.jobId === undefined ? -1 : direction * index.compareTies(a, b));
    return order === 'unordered' ? byPlace || bySortKey() || ranked() : bySortKey() || byPlace || ranked();
  };
}

/** The position after all shards, for one sort key. This position has a sort key but no shard. */
function onlySortKey({ sortKeyAttributes }: ShardedIndexConfig, item: DynamoDbItem): DynamoDbItem {
  return Object.fromEntries(
    sortKeyAttributes.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])),
  );
}

/** Compares two positions if at least one position is after all shards. */
function behindAllShards(a: DynamoDbItem, b: DynamoDbItem): number | undefined {
  if (a.shard !== undefined && b.shard !== undefined) return undefined;
  return Number(a.shard === undefined) - Number(b.shard === undefined);
}

function randomCondition(
  name: string,
  kind: string,
  operand: () => AttributeValue,
): { name: string; field: object; selects(item: DynamoDbItem): boolean } {
  const first = operand();
  const other = operand();
  const to = (item: DynamoDbItem, value: AttributeValue) => compareAttributeValues(item[name]!, value);
  const [lower, upper] = compareAttributeValues(first, other) <= 0 ? [first, other] : [other, first];
  const compared = COMPARED[kind];
  if (compared !== undefined) {
    return { name, field: { [kind]: first }, selects: (item) => compared(to(item, first)) };
  }
  if (kind === 'between') {
    const selects = (item: DynamoDbItem) => to(item, lower) >= 0 && to(item, upper) <= 0;
    return { name, field: { between: [lower, upper] }, selects };
  }
  if ('N' in first) return { name, field: { eq: first }, selects: (item) => to(item, first) === 0 };
  const begins = (item: DynamoDbItem) => bytesOf(item[name]!).subarray(0, bytesOf(first).length).equals(bytesOf(first));
  return { name, field: { beginsWith: first }, selects: begins };
}

function bytesOf(value: AttributeValue): Buffer {
  return 'S' in value ? Buffer.from(value.S) : Buffer.from((value as { B: Uint8Array }).B);
}

function onceEach(items: DynamoDbItem[]): DynamoDbItem[] {
  const seen = new Set<string>();
  return items.filter((item) => !seen.has(idOf(item)) && seen.add(idOf(item)));
}

export function shardKey(layout: ShardedIndexConfig['keyLayout'], value: number, shard: number): DynamoDbItem {
  const status = VALUES[value]!;
  return {
    status: { S: status },
    shard: layout === 'single-attribute' ? { S: `${status}#${shard}` } : { N: String(shard) },
  };
}

/** Returns a number for the shard of an item. Each shard of each value has a different number. */
function numberOf(item: DynamoDbItem): number {
  const shard = Number(((item.shard as { N: string }).N ?? (item.shard as { S: string }).S).split('#').at(-1));
  return VALUES.indexOf(indexValueOf(item)) * MAX_INDEX_SHARDS + shard;
}

function indexValueOf({ status }: DynamoDbItem): string {
  return (status as { S: string }).S;
}

export function idOf({ jobId }: DynamoDbItem): string {
  return (jobId as { S: string }).S;
}

function textOf(item: DynamoDbItem): string {
  return JSON.stringify(item);
}

/** Runs cases one after the other. The error names the seed of the first case that fails. */
export async function playFanOutCases(
  cases: number,
  firstSeed: number,
  play: (seed: number) => Promise<void>,
): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + cases; seed++) {
    await play(seed).catch((error: Error) => {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
    });
  }
}
