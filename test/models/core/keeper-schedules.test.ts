import type { DynamoDbItem, ItemMoveInput, ShardedIndexConfig } from '../../../lib/core';
import { IndexKeeper } from '../../../lib/core/sharded-index/keeper/index-keeper';
import { indexStrayOf } from '../../../lib/core/sharded-index/strays/index-stray';
import { VirtualClock } from '../../../lib/testing';
import { serviceError } from '../../../lib/testing/service-error';
import { MemoryKeeperStore } from '../../support/fakes/memory-keeper-store';
import { StreamedTable, type StreamView } from '../../support/fakes/streamed-table';
import { indexConfig } from '../../support/index-config';

/**
 * Plays every schedule of a small scenario: a writer, a keeper, and a second keeper with another count, which continues after a timeout of
 * the first keeper. At each moment, the next write takes place, or a keeper gets a record: in order, late, or again. A request of a keeper
 * succeeds, or arrives later, after any other steps and after the timeout of its keeper.
 */

const KEY = { jobId: { S: '1' } };
const plain = (status: string): DynamoDbItem => ({ ...KEY, status: { S: status }, createdAt: { S: '1' } });

/** A step of the writer. Returns the item that the writer reads. `saved` is the item that it has read in an earlier step. */
type Step = (table: StreamedTable, saved: DynamoDbItem | undefined) => DynamoDbItem | undefined;

const write =
  (apply: (table: StreamedTable, saved: DynamoDbItem | undefined) => void): Step =>
  (table, saved) => {
    apply(table, saved);
    return undefined;
  };
const put = (status: string) => write((table) => table.put(plain(status)));
const change = (status: DynamoDbItem) =>
  write((table) => {
    const { status: _, ...rest }: DynamoDbItem = table.read(KEY) ?? KEY;
    table.put({ ...rest, ...status });
  });
const remove = write((table) => table.delete(KEY));
const readItem: Step = (table) => table.read(KEY);
const saveItem = write((table, saved) => table.put({ ...(saved ?? plain('open')), note: { S: 'saved' } }));

const SCENARIOS: Record<string, Step[]> = {
  'puts an item, and replaces it with another status': [put('open'), put('done')],
  'puts an item, changes its status, and removes the status': [
    put('open'),
    change({ status: { S: 'done' } }),
    change({}),
  ],
  'puts an item, deletes it, and puts it again with another status': [put('open'), remove, put('done')],
  'reads an item and later saves the whole item, while the status changes': [
    put('open'),
    readItem,
    change({ status: { S: 'done' } }),
    saveItem,
  ],
};

const LAYOUTS: Record<string, Partial<ShardedIndexConfig>> = {
  'multi-attribute': {},
  'single-attribute': { keyLayout: 'single-attribute' },
  'single-attribute and no value': { keyLayout: 'single-attribute', valueAttribute: undefined },
};

/** The counts of the two keepers. Readers query the larger count. */
const COUNTS = [2, 5];

interface StreamRecord {
  eventName: string;
  dynamodb: { NewImage?: object };
}

interface State {
  item: DynamoDbItem | undefined;
  /** The different stream records so far, by their content, and whether a keeper has finished them. */
  records: ReadonlyMap<string, { record: StreamRecord; isPending: boolean }>;
  /** The number of steps that the writer has taken. */
  steps: number;
  saved?: DynamoDbItem;
  /** A request of a keeper that arrives later. */
  delayed?: ItemMoveInput;
  corrections: number;
}

class Schedules {
  private readonly clock = new VirtualClock();
  private readonly keepers: IndexKeeper[];
  private readonly readers: ShardedIndexConfig;
  private table!: StreamedTable;
  private request: ItemMoveInput | undefined;
  private stop = new AbortController();
  /** The requests of the keepers, by the item that they know. */
  private readonly requests = new Map<string, ItemMoveInput | undefined>();

  constructor(
    private readonly view: StreamView,
    layout: Partial<ShardedIndexConfig>,
    private readonly scenario: readonly Step[],
  ) {
    const configs = COUNTS.map((count) =>
      indexConfig({ ...layout, shards: { default: { write: count, read: count } } }),
    );
    this.readers = configs.at(-1)!;
    const client = {
      scan: (input: Parameters<StreamedTable['scan']>[0]) => this.table.scan(input),
      getItem: (input: Parameters<StreamedTable['getItem']>[0]) => this.table.getItem(input),
      updateItem: async (input: ItemMoveInput) => {
        this.request = input;
        this.stop.abort();
        throw serviceError('TimeoutError', 'no response');
      },
    };
    const options = { clock: this.clock, timeOfDay: () => this.table.timeOfDay, random: () => 0.5 };
    this.keepers = configs.map((config) => new IndexKeeper(client, [config], new MemoryKeeperStore(), options));
  }

  /** Visits every state that a schedule can reach, and checks it. Returns how many states there are. */
  async visit(): Promise<number> {
    const start: State = { item: undefined, records: new Map(), steps: 0, corrections: 0 };
    const known = new Set([textOf(start)]);
    const queue = [start];
    for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
      this.check(state);
      for (const next of await this.nextOf(state)) {
        const text = textOf(next);
        if (known.has(text)) continue;
        known.add(text);
        queue.push(next);
      }
    }
    return known.size;
  }

  private check({ item, records, steps, delayed, corrections }: State): void {
    // Each write causes at most one correction by each keeper.
    expect(corrections <= COUNTS.length * this.scenario.length).toBe(true);
    const isQuiet = steps === this.scenario.length && delayed === undefined;
    if (!isQuiet || item === undefined || [...records.values()].some(({ isPending }) => isPending)) return;
    expect([undefined, 'misplaced']).toContain(indexStrayOf(this.readers, item)?.reason);
  }

  private async nextOf(state: State): Promise<State[]> {
    const next: State[] = [];
    const step = this.scenario[state.steps];
    if (step !== undefined) {
      this.restore(state);
      const saved = step(this.table, state.saved) ?? state.saved;
      next.push(this.now({ ...state, steps: state.steps + 1, ...(saved && { saved }) }));
    }
    const { delayed, ...others } = state;
    if (delayed !== undefined) next.push(await this.applied(state, others, delayed));
    for (const keeper of this.keepers.keys()) {
      for (const [content, { record, isPending }] of state.records) {
        const request = await this.requestOf(state, keeper, record);
        const finished = { ...state, records: new Map(state.records).set(content, { record, isPending: false }) };
        if (request === undefined) {
          if (isPending) next.push(finished);
          continue;
        }
        next.push(await this.applied(state, finished, request));
        if (!isPending) continue;
        // The keeper gets no response until its timeout, and Lambda delivers the record again. The same image gives the same request, so
        // a request that arrives later is the same as a later delivery. A keeper that reads the item can know an older item.
        if (this.view === 'NEW_IMAGE') next.push(await this.applied(state, state, request));
        else if (delayed === undefined) next.push({ ...state, delayed: request });
      }
    }
    return next;
  }

  /** The request with which a keeper processes a record. Undefined for an item that it does not correct. */
  private async requestOf(state: State, keeper: number, record: StreamRecord): Promise<ItemMoveInput | undefined> {
    const known = this.view === 'KEYS_ONLY' ? state.item : record.dynamodb.NewImage;
    const text = JSON.stringify([keeper, record.eventName, known]);
    if (!this.requests.has(text)) {
      this.restore(state);
      this.request = undefined;
      this.stop = new AbortController();
      const kept = this.keepers[keeper]!.keep({ Records: [record] }, this.stop.signal);
      const { firstUnfinished } = await this.clock.runUntil(kept);
      expect(firstUnfinished !== undefined).toBe(this.request !== undefined);
      this.requests.set(text, this.request);
    }
    return this.requests.get(text);
  }

  /** The state after a request arrives. A correction changes no attribute of the writer, and creates no item. */
  private async applied(state: State, next: State, request: ItemMoveInput): Promise<State> {
    this.restore(state);
    const before = this.table.read(KEY);
    const isApplied = await this.table.updateItem(request).then(
      () => true,
      () => false,
    );
    const [after, expected] = [this.table.read(KEY), before].map((item) => JSON.stringify({ ...item, shard: 0 }));
    expect(after).toBe(expected);
    return this.now({ ...next, corrections: state.corrections + Number(isApplied) });
  }

  private restore({ item }: State): void {
    this.table = new StreamedTable(['jobId'], this.view);
    if (item !== undefined) this.table.put(item);
    this.table.records.length = 0;
  }

  /** The state with the present item, and with the new records, which are pending. */
  private now(state: State): State {
    const records = new Map(state.records);
    for (const record of this.table.records as StreamRecord[]) {
      records.set(JSON.stringify([record.eventName, record.dynamodb.NewImage]), { record, isPending: true });
    }
    return { ...state, item: this.table.read(KEY), records };
  }
}

function textOf({ records, ...state }: State): string {
  const pending = [...records].map(([content, { isPending }]) => `${isPending} ${content}`).sort();
  return JSON.stringify([state, pending]);
}

describe.each(Object.entries(LAYOUTS))('with the key layout %s', (_, layout) => {
  test.each(Object.entries(SCENARIOS))(
    'in every schedule, queries find the item of a writer that %s',
    async (__, scenario) => {
      const counts: number[] = [];
      for (const view of ['NEW_IMAGE', 'KEYS_ONLY'] as const) {
        counts.push(await new Schedules(view, layout, scenario).visit());
      }
      expect(Math.min(...counts)).toBeGreaterThan(100);
    },
    120_000,
  );
});
