import {
  type DynamoDbItem,
  FanOutHistory,
  type FanOutOptions,
  type FanOutOrder,
  type FanOutRequest,
  fanOutQuery,
  type ShardedIndexConfig,
} from '../../../lib/core';
import { decodeCursor } from '../../../lib/core/sharded-index/query/cursor';
import { seededRandom } from '../../../lib/testing/seeded-random';
import {
  CONDITIONS,
  comparePlaces,
  idOf,
  MODEL_IDS,
  type ModelIndex,
  type ModelLimits,
  modelConfig,
  onlySortKey,
  randomCondition,
  type SortType,
  shardKey,
  sortValue,
  UnreliableNetwork,
} from './fan-out-model';

/** An item, and when it was inserted. */
interface Witness {
  readonly item: DynamoDbItem;
  /**
   * The number of the attempt (to read a page) during which the item was inserted. Later attempts must find the item.
   */
  readonly since: number;
  /**
   * Whether the item was changed or deleted after its insertion. If so, the case does not check which page contains its
   * first version.
   */
  touched: boolean;
  /** The number of the page that contained the item. */
  shownOn?: number;
}

/** The number of pages and items in one case. */
export interface InsertsFound {
  pages: number;
  items: number;
  /**
   * The number of items that were inserted into the range of a page after the query had read that range. No page
   * contains these items.
   */
  overtaken: number;
}

/** After this number of consecutive failures, a page is read without faults and without a deadline. */
const MAX_FAILURES = 3;
const MAX_PAGES = 400;

/**
 * Runs one case from a seed: a query with a filter, deadlines, throttling and an unreliable network. Items are
 * inserted between the reads of the query, before, at and after the positions that were read. Some of these items have
 * the same sort key as other items. The cases use every order and every condition.
 *
 * The oracle stores the position of each item and the attempt during which the item was inserted. If an item was
 * inserted before the attempt that read a page, and the range of the page contains the item, the item must be on that
 * page. If the item was inserted later, it may be on that page, but on no other page. No page contains another item or
 * has a wrong order.
 */
export async function playInsertsWhilePaging(
  seed: number,
  limits: ModelLimits,
  indexFor: (config: ShardedIndexConfig, type: SortType, random: () => number) => ModelIndex | Promise<ModelIndex>,
): Promise<InsertsFound> {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const oneOf = <E>(choices: readonly E[]): E => choices[below(choices.length)]!;

  const type = oneOf<SortType>(['S', 'N', 'B']);
  const layout = oneOf(limits.layouts);
  const most = oneOf(limits.sortKeyCounts);
  const config = modelConfig(layout, layout === 'single-attribute' ? Math.min(1, most) : most);
  const order = oneOf<FanOutOrder>(['ascending', 'descending', 'ascending', 'descending', 'unordered']);
  const shards = 1 + below(oneOf([2, 6, 20, limits.mostShards]));
  const counted = { ...config, shards: { default: { write: shards, read: shards } } };
  const passing = oneOf([1, 0.5, 0.1, 0.02]);
  const distinct = oneOf([1, 2, limits.sortValues]);
  const changing = oneOf([0.05, 0.3, 0.8]);
  const [hanging, failing] = [oneOf([0, 0.05, 0.3]), oneOf([0, 0.1, 0.3])];
  const deadline = oneOf([undefined, 20, 60, 200]);
  const history = random() < 0.5 ? new FanOutHistory() : undefined;
  const condition =
    config.sortKeyAttributes.length > 0 && random() < 0.5
      ? randomCondition('sort', oneOf(CONDITIONS), () => sortValue(type, below(limits.sortValues)))
      : undefined;
  const bounds = oneOf<FanOutOptions>([{}, {}, { maxPageBytes: 1 + below(2_000) }]);
  const request: FanOutRequest = {
    value: 'a',
    order,
    ...(random() < 0.8 && { limit: 1 + below(oneOf([3, 10, 60])) }),
    ...(condition && { sortKey: condition.field as FanOutRequest['sortKey'] }),
    ...(random() < 0.2 && { maxReadUnits: oneOf([0.5, 3, 20]) }),
    filterExpression: '#hidden = :no',
    expressionAttributeNames: { '#hidden': 'hidden' },
    expressionAttributeValues: { ':no': { N: '0' } },
  };

  const index = await indexFor(config, type, random);
  const network = new UnreliableNetwork(index, random);
  const compare = comparePlaces(config, order, index);
  const witnesses = new Map<string, Witness>();
  let attempt = 0;
  const fresh = (jobId: string): DynamoDbItem => ({
    jobId: { S: jobId },
    ...shardKey(layout, 0, below(shards)),
    sort: sortValue(type, below(distinct)),
    tie: { N: String(below(3)) },
    last: { S: oneOf(['x', 'y']) },
    hidden: { N: random() < passing ? '0' : '1' },
  });
  const insert = async (count: number): Promise<void> => {
    const items = Array.from({ length: Math.min(count, MODEL_IDS - witnesses.size) }, (_, nth) =>
      fresh(`job-${witnesses.size + nth}`),
    );
    for (const item of items) witnesses.set(idOf(item), { item, since: attempt, touched: false });
    await index.put(items);
  };
  await insert(below(limits.mostItems));

  network.meanwhile = async () => {
    if (random() >= changing) return;
    if (random() < 0.7 || witnesses.size === 0) return insert(1 + below(3));
    const witness = oneOf([...witnesses.values()]);
    // The old version of a deleted or moved item may be on any page or on no page.
    witness.touched = true;
    if (random() < 0.5) await index.delete([witness.item]);
    else await index.put([fresh(idOf(witness.item))]);
  };
  const isDue = (item: DynamoDbItem): boolean =>
    (item.hidden as { N: string }).N === '0' && (condition?.selects(item) ?? true);

  const found: InsertsFound = { pages: 0, items: 0, overtaken: 0 };
  let last: DynamoDbItem | undefined;
  let cursor: string | undefined;
  for (let failures = 0; found.pages < MAX_PAGES; ) {
    attempt += 1;
    const began = attempt;
    const calm = failures >= MAX_FAILURES;
    // After half of the allowed pages, no item is inserted, changed or deleted any more, so that the case ends.
    if (found.pages > MAX_PAGES / 2) network.meanwhile = () => {};
    network.weather = calm ? { hanging: 0, failing: 0 } : { hanging, failing };
    const options: FanOutOptions = {
      ...bounds,
      history,
      clock: network.clock,
      random,
      deadlineMs: calm ? undefined : deadline,
      attempts: 1 + below(4),
      concurrency: oneOf([1, 3, 50]),
      ...(history !== undefined && { hedgeBudget: 0.1 * random() }),
    };
    const page = await network
      .played(fanOutQuery(network, counted, { ...request, cursor }, options))
      .catch((error: { name?: string; code?: string }) => {
        const known = ['ThrottlingException', 'ShardsUnavailableError', 'IncompleteAnswerError'];
        if (calm || !(known.includes(error.name ?? '') || error.code === 'ECONNRESET')) throw error;
      });
    // An item that is inserted between two pages counts as inserted before the next page.
    attempt += 1;
    if (page === undefined) {
      failures += 1;
      continue;
    }
    failures = 0;
    const next = page.cursor === undefined ? undefined : placeOf(page.cursor);
    check(page.items, next, began);
    found.pages += 1;
    if (next === undefined) break;
    last = next;
    cursor = page.cursor;
    await network.meanwhile();
  }
  found.items = witnesses.size;
  if (found.pages === MAX_PAGES) throw new Error('the last page has a cursor');
  await index.delete([...witnesses.values()].map(({ item }) => item));
  return found;

  function check(items: readonly DynamoDbItem[], next: DynamoDbItem | undefined, began: number): void {
    const page = found.pages;
    if (next !== undefined && last?.jobId !== undefined && next.jobId !== undefined && compare(next, last) <= 0) {
      throw new Error(`the cursor of page ${page} does not advance`);
    }
    const isIn = (item: DynamoDbItem): boolean =>
      (last === undefined || compare(item, last) > 0) && (next === undefined || compare(item, next) <= 0);
    for (const [nth, item] of items.entries()) {
      if (!isDue(item)) throw new Error(`page ${page} contains ${idOf(item)}, which does not match the query`);
      if (!isIn(item)) throw new Error(`page ${page} contains ${idOf(item)}, which is outside its range`);
      if (nth > 0 && compare(item, items[nth - 1]!) <= 0) throw new Error(`page ${page} has a wrong order`);
      const witness = witnesses.get(idOf(item))!;
      if (witness.touched) continue;
      if (witness.shownOn !== undefined) throw new Error(`${idOf(item)} is on pages ${witness.shownOn} and ${page}`);
      witness.shownOn = page;
    }
    for (const [id, { item, since, touched, shownOn }] of witnesses) {
      if (touched || shownOn !== undefined || !isDue(item) || !isIn(item)) continue;
      if (since < began)
        throw new Error(`page ${page} lacks ${id}, which was inserted in attempt ${since} of ${began}`);
      found.overtaken += 1;
    }
  }

  /** The position of a cursor as an item, in which some attributes may be absent. */
  function placeOf(of: string): DynamoDbItem {
    const { item, shard } = decodeCursor(counted, { ...request, cursor: of })!;
    if (!Number.isFinite(shard)) return onlySortKey(config, item);
    return { ...item, ...shardKey(layout, 0, shard) };
  }
}
