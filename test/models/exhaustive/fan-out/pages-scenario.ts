import {
  type DynamoDbItem,
  FanOutHistory,
  type FanOutPage,
  type FanOutRequest,
  fanOutQuery,
  type IndexQueryInput,
  type IndexQueryOutput,
  InvalidCursorError,
  type ShardedIndexConfig,
  ShardsUnavailableError,
} from '../../../../lib/core';
import { storePath } from '../../../../lib/core/sharded-index/config/sharded-index-config';
import { FakeIndex } from '../../../support/fakes/fake-index';
import { indexConfig } from '../../../support/index-config';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import type { World } from '../world';

export interface PagesBounds {
  /** The shard, the sort key and optionally the tie-breaker of each item. */
  items: readonly (readonly [shard: number, day: string, time?: string])[];
  /** The maximum number of items in a response. */
  answerItems: number;
  request: FanOutRequest;
  /** The maximum number of faults in a run: a response fails or is throttled, or a page reaches its deadline. */
  faults: number;
  /** The maximum number of changes between pages. A change deletes an item, adds an item, or moves an item to the other shard. */
  changes: number;
  onShardFailure?: 'fail' | 'partial';
  /** Whether a late request is sent a second time. Two requests are in flight then. */
  hedged?: boolean;
  /**
   * The shard counts of readers: for the first pages, and from a later page on. Before this later page, all items are in the first
   * two shards.
   */
  counts?: readonly [first: number, later: number];
}

const SHARDS = 2;

/** This day sorts after all other days, so an item of this day is always after the current cursor. */
const LAST_DAY = 'd9';

const CONFIG = indexConfig({
  tableName: 'Events',
  indexName: 'byDay',
  tableKey: ['id'],
  sortKeyAttributes: ['day'],
  shards: { default: { write: SHARDS, read: SHARDS } },
  strategy: 'random',
  valueAttribute: undefined,
});

/** Waits between attempts end immediately. The end of the time of a page is a separate step, so its deadline is far away. */
const DEADLINE_MS = 1_000_000;

/** A step of the scenario makes a request late. The latencies of earlier requests determine when a request counts as late. */
const LATENCY_MS = 100;
const HEDGE_AFTER_MS = 3 * LATENCY_MS;
const LATENCIES = 100;
const HEDGE_BUDGET = 0.1;

const FAILURES = { fails: 'InternalServerError', 'is throttled': 'ThrottlingException' };

/** Reads an index page by page while responses fail, are late or come after the deadline, and items change between pages. */
export function pagesScenario(name: string, bounds: PagesBounds): Scenario {
  return { name, timerFootprint: { writes: ['page'] }, play: (world) => new Pages(world, bounds).play() };
}

class Pages {
  private readonly faults: Faults;
  private readonly config: ShardedIndexConfig;
  private readonly index: FakeIndex;
  private readonly shown: DynamoDbItem[] = [];
  /** The items of the query that did not change. The pages must return each of these items once. */
  private readonly unchanged = new Map<string, DynamoDbItem>();
  private changesLeft: number;
  private readonly history = new FanOutHistory();
  private requests = 0;
  private hedges = 0;
  private count: number;
  private wasPartial = false;

  constructor(
    private readonly world: World,
    private readonly bounds: PagesBounds,
  ) {
    this.faults = new Faults(world, bounds.faults);
    this.changesLeft = bounds.changes;
    this.count = bounds.counts?.[0] ?? SHARDS;
    for (let latency = 0; latency < LATENCIES; latency++) this.history.observeLatency(LATENCY_MS, HEDGE_BUDGET);
    const hasTimes = bounds.items.some(([, , time]) => time !== undefined);
    this.config = { ...CONFIG, sortKeyAttributes: hasTimes ? ['day', 'time'] : ['day'] };
    this.index = new FakeIndex(this.config, { pageItems: bounds.answerItems });
    bounds.items.forEach(([shard, day, time], number) => {
      const item = itemOf(`item ${number}`, shard, day, time);
      this.index.put(item);
      if (isWanted(bounds.request, day)) this.unchanged.set(textOf(item, 'id'), item);
    });
  }

  async play(): Promise<void> {
    const { items, faults, changes } = this.bounds;
    const mostPages = 2 * (items.length + faults + changes + 2);
    let cursor: string | undefined;
    for (let page = 1; ; page++) {
      promise(page <= mostPages, 'the number of pages is limited');
      this.describeState(page, cursor);
      const answer = await this.world.until(this.page(page, cursor));
      if (answer !== undefined) {
        this.show(answer, cursor);
        cursor = answer.cursor;
        if (cursor === undefined) break;
      }
      this.change(page);
      this.changeCount(page);
    }
    this.checkEnd();
  }

  /** Before the first request of a page, the rest of the run depends only on the cursor and the items. */
  private describeState(page: number, cursor: string | undefined): void {
    this.requests = 0;
    this.hedges = 0;
    const { faults, history, count, changesLeft, wasPartial, shown, unchanged, index } = this;
    const sizes = page === 1 ? undefined : history.sizesOf(storePath(this.config));
    const ids = shown.map((item) => textOf(item, 'id')).sort();
    const before = [page, cursor, faults.rest, count, changesLeft, wasPartial, sizes, ids, shown.at(-1)];
    this.world.setState(() => JSON.stringify([...before, [...unchanged.values()], index.all()]), 'the next step');
  }

  /** Returns a page. Returns undefined if the deadline came, or a shard failed, before the first item of the page was certain. */
  private async page(number: number, cursor: string | undefined): Promise<FanOutPage | undefined> {
    const deadline: { come?: () => void } = {};
    const { clock } = this.world;
    const schedule = (callback: () => void, delayMs: number): (() => void) => {
      if (delayMs === HEDGE_AFTER_MS) {
        return this.faults.offer(`a request is late ${++this.hedges}`, { writes: ['page'] }, callback);
      }
      if (delayMs !== DEADLINE_MS) return clock.schedule(callback, delayMs);
      deadline.come = callback;
      return this.faults.offer(`page ${number} is at its deadline`, { writes: ['page'] }, callback);
    };
    try {
      return await fanOutQuery(
        { query: (input, options) => this.query(input, options?.abortSignal) },
        { ...this.config, shards: { default: { write: Math.min(this.count, SHARDS), read: this.count } } },
        { ...this.bounds.request, cursor },
        {
          clock: { ...clock, schedule },
          random: () => 0,
          deadlineMs: DEADLINE_MS,
          attempts: 2,
          onShardFailure: this.bounds.onShardFailure,
          ...(this.bounds.hedged && { hedgeBudget: HEDGE_BUDGET, history: this.history, concurrency: 2 }),
        },
      );
    } catch (error) {
      promise(!(error instanceof InvalidCursorError), 'a page accepts the cursor of the previous page');
      const isExpected = error instanceof ShardsUnavailableError || (error as Error).message === 'scripted';
      if (!isExpected) throw error;
      return undefined;
    }
  }

  private query(input: IndexQueryInput, abortSignal: AbortSignal | undefined): Promise<IndexQueryOutput> {
    const request = `request ${++this.requests}`;
    const footprint = { writes: [request, 'page'] };
    return new Promise((resolve, reject) => {
      const end = (): void => {
        for (const takeBack of offers) takeBack();
        abortSignal?.removeEventListener('abort', abort);
      };
      const fail = (name: string) => () => {
        end();
        reject(Object.assign(new Error('scripted'), { name, $metadata: {} }));
      };
      // As in the SDK, an aborted request has no response.
      const abort = fail('AbortError');
      const answer = (): void => {
        end();
        this.index.query(input).then(resolve, reject);
      };
      const offers = [
        this.world.offer(`${request} is answered`, footprint, answer),
        ...Object.entries(FAILURES).map(([fate, name]) =>
          this.faults.offer(`${request} ${fate}`, footprint, fail(name)),
        ),
      ];
      abortSignal?.addEventListener('abort', abort);
    });
  }

  private show({ items, missingShards }: FanOutPage, cursor: string | undefined): void {
    this.wasPartial ||= missingShards !== undefined;
    for (const item of items) {
      const last = this.shown.at(-1);
      const isInOrder = last === undefined || this.compare(last, item) <= 0;
      promise(isInOrder, cursor === undefined ? 'a page is in order' : 'a page begins after its cursor');
      const isNew = this.shown.every((other) => textOf(other, 'id') !== textOf(item, 'id'));
      promise(isNew || !this.unchanged.has(textOf(item, 'id')), 'no item is returned twice');
      this.shown.push(item);
    }
  }

  private compare(left: DynamoDbItem, right: DynamoDbItem): number {
    if (this.bounds.request.order === 'unordered') return 0;
    const [a, b] = [left, right].map((item) =>
      this.config.sortKeyAttributes.map((each) => textOf(item, each)).join(),
    ) as [string, string];
    const difference = a < b ? -1 : Number(a > b);
    return this.bounds.request.order === 'descending' ? -difference : difference;
  }

  /** Deletes, adds or moves an item between two pages. */
  private change(page: number): void {
    if (this.changesLeft === 0) return;
    const [first, ...rest] = [...this.unchanged.values()];
    const target = rest.at(-1) ?? first;
    if (target === undefined) return;
    const change = this.world.choose(`after page ${page}`, [
      'nothing changes',
      'an item is deleted',
      'an item moves',
      'an item is added',
      ...(this.grows ? (['an item is added to the last shard'] as const) : []),
    ]);
    if (change === 'nothing changes') return;
    this.changesLeft -= 1;
    if (change === 'an item is added') {
      this.index.put(itemOf(`late ${page}`, 0, textOf(target, 'day')));
      return;
    }
    if (change === 'an item is added to the last shard') {
      const item = itemOf(`late ${page}`, this.count - 1, LAST_DAY);
      this.unchanged.set(textOf(item, 'id'), item);
      this.index.put(item);
      return;
    }
    this.unchanged.delete(textOf(target, 'id'));
    this.index.delete(target);
    if (change === 'an item moves') {
      const shard = 1 - Number((target.shard as { N: string }).N);
      this.index.put(itemOf(textOf(target, 'id'), shard, textOf(target, 'day'), textOf(target, 'time')));
    }
  }

  /** Whether readers switch to a higher count, which writers use afterwards. */
  private get grows(): boolean {
    const [first, later] = this.bounds.counts ?? [SHARDS, SHARDS];
    return later > first;
  }

  /** Gives readers another count. */
  private changeCount(page: number): void {
    const later = this.bounds.counts?.[1] ?? this.count;
    if (later === this.count) return;
    const change = this.world.choose(`the count after page ${page}`, ['stays', 'changes']);
    if (change === 'changes') this.count = later;
  }

  private checkEnd(): void {
    if (this.wasPartial) return;
    const shown = new Set(this.shown.map((item) => textOf(item, 'id')));
    promise(
      [...this.unchanged.keys()].every((id) => shown.has(id)),
      'no item is missing',
    );
  }
}

function isWanted({ sortKey }: FanOutRequest, day: string): boolean {
  return sortKey === undefined || !('lte' in sortKey) || day <= String(sortKey.lte);
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}

function itemOf(id: string, shard: number, day: string, time = '1'): DynamoDbItem {
  return { id: { S: id }, day: { S: day }, time: { S: time }, shard: { N: String(shard) } };
}

function textOf(item: DynamoDbItem, attribute: string): string {
  return (item[attribute] as { S: string }).S;
}
