import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type DynamoDbItem, FanOutHistory, fanOutQuery, type QueryClient } from '../../../../../lib/core';
import { PageInProgress } from '../../../../../lib/core/fan-out/page-in-progress';
import { ShardBuffer } from '../../../../../lib/core/fan-out/shard-buffer';
import { itemBytes } from '../../../../../lib/core/sharded-index/query/item-bytes';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

/** Compares the memory of a page, for its buffers and its items, with the bound in the docstring of `fanOutQuery`. */

const MEGABYTE = 2 ** 20;

const sizes = new WeakMap<DynamoDbItem, number>();
function sizeOf(item: DynamoDbItem): number {
  const bytes = sizes.get(item) ?? itemBytes(item);
  sizes.set(item, bytes);
  return bytes;
}

let most: number;
beforeEach(() => {
  const buffers = new Set<ShardBuffer<DynamoDbItem>>();
  let ofPage = 0;
  most = 0;
  const { absorb } = ShardBuffer.prototype;
  jest.spyOn(ShardBuffer.prototype, 'absorb').mockImplementation(function (this: ShardBuffer<never>, page, until) {
    const positions = absorb.call(this, page, until);
    buffers.add(this);
    let bytes = ofPage;
    for (const { buffered } of buffers) for (const { item } of buffered) bytes += sizeOf(item);
    most = Math.max(most, bytes);
    return positions;
  });
  const { take } = PageInProgress.prototype;
  jest.spyOn(PageInProgress.prototype, 'take').mockImplementation(function (this: PageInProgress<never>, position) {
    const before = this.positions.length;
    const taken = take.call(this, position);
    if (this.positions.length > before) ofPage += itemBytes(position.item);
    return taken;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Returns an index with items of about this size. The sizes of mixed items differ by a factor of up to sixteen. */
function filled(shards: number, bytes: number, mixed: boolean, total: number): FakeIndex {
  const index = new FakeIndex(timeIndex(shards));
  const random = seededRandom(11);
  const pads = Array.from({ length: 9 }, (_, step) => {
    const size = mixed ? Math.min(390_000, (bytes / 4) * 2 ** (step / 2)) : bytes;
    return 'x'.repeat(Math.max(1, Math.round(size) - 50));
  });
  for (let number = 0, held = 0; held < total && number < 30_000; number++) {
    const pad = pads[Math.floor(random() * pads.length)]!;
    held += pad.length;
    const key = { id: { S: `item-${number}` }, at: { N: String(1_000_000 + number) } };
    index.put({ ...key, shard: { N: String(Math.floor(random() * shards)) }, pad: { S: pad } });
  }
  return index;
}

test('a page holds only its items and the items of the requests in flight, with 1,000 shards and items of 400 kB', async () => {
  const client = new HeldItems(filled(1_000, 390_000, false, 3_000 * 390_000));
  const { items, stats } = await fanOutQuery(client, timeIndex(1_000), { limit: 12 });
  expect(items.map(({ at }) => at)).toEqual(Array.from({ length: 12 }, (_, at) => ({ N: String(1_000_000 + at) })));
  // The query holds the 12 items of the page, up to 6 more items until it computes the end of the page again, and 2
  // items for each of 50 parallel requests.
  expect(client.most).toBeLessThanOrEqual(12 + 6 + 2 * 50);
  expect(stats.itemsRead).toBeLessThan(300);
});

const CELLS = [1, 10, 100, 1_000].flatMap((shards) =>
  [1_000, 30_000, 390_000].flatMap((bytes) =>
    [100_000, 2_000_000].flatMap((maxPageBytes) =>
      [5, 50].flatMap((concurrency) =>
        [false, true].map((mixed) => ({ shards, bytes, maxPageBytes, concurrency, mixed, warm: shards % 3 === 1 })),
      ),
    ),
  ),
);

test.each(CELLS)(
  'a page uses at most the documented memory: $shards shards, $bytes bytes an item, mixed $mixed, maxPageBytes $maxPageBytes, concurrency $concurrency',
  async (cell) => {
    const { shards, bytes, maxPageBytes, concurrency, mixed, warm } = cell;
    const index = filled(shards, bytes, mixed, 3 * maxPageBytes + 2 * shards * bytes);
    const clock = new VirtualClock();
    const random = seededRandom(shards + bytes);
    // Responses come one after another, in any order.
    const client = {
      query: async (input: Parameters<FakeIndex['query']>[0]) => {
        await clock.sleep(1 + Math.floor(20 * random()));
        return index.query(input);
      },
    };
    const history = new FanOutHistory();
    const options = { clock, history, concurrency, maxPageBytes, bytesOf: sizeOf };
    if (warm) await clock.runUntil(fanOutQuery(client, timeIndex(shards), { limit: 5 }, options));
    most = 0;
    const { items } = await clock.runUntil(fanOutQuery(client, timeIndex(shards), {}, options));
    expect(items.length).toBeGreaterThan(0);
    const page = Math.max(maxPageBytes, itemBytes(items[0]!));
    expect(most).toBeLessThanOrEqual(1.5 * page + concurrency * MEGABYTE);
  },
);

/** The client collects garbage and counts the items once in this number of responses. */
const COUNT_AFTER = 100;

/** A client that counts how many of its returned items are still in memory, after it has run the garbage collection. */
class HeldItems implements QueryClient {
  most = 0;
  private items: WeakRef<DynamoDbItem>[] = [];
  private answers = 0;
  private readonly collect = garbageCollector();

  constructor(private readonly index: QueryClient) {}

  async query(input: Parameters<QueryClient['query']>[0]) {
    const answer = await this.index.query(input);
    // The items of the index itself are always in memory, so the client returns copies.
    const copies = answer.Items!.map((item) => ({ ...item }) as DynamoDbItem);
    this.items.push(...copies.map((copy) => new WeakRef(copy)));
    this.answers += 1;
    if (this.answers % COUNT_AFTER === 0) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.collect();
      this.items = this.items.filter((item) => item.deref() !== undefined);
      this.most = Math.max(this.most, this.items.length);
    }
    return { ...answer, Items: copies };
  }
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return (globalThis as { gc?: () => void }).gc ?? runInNewContext('gc');
}
