import {
  type ClusteringCondition,
  type CqlClient,
  type CqlKeyType,
  type CqlRow,
  type CqlValue,
  EvenShardsError,
  FanOutHistory,
  type FanOutOrder,
  type FanOutSelectOptions,
  type FanOutSelectRequest,
  fanOutSelect,
  type ShardedKeyspacesConfig,
} from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import type { VirtualClock } from '../../../lib/testing/virtual-clock';
import { keyspacesConfig } from '../keyspaces-config';
import { FakeCassandra, textOf } from './fake-cassandra';

/**
 * Values of each type in the ascending order of Cassandra. Each type has few values, so that most rows share their
 * clustering value with another row.
 */
export const MODEL_VALUES: Record<CqlKeyType, CqlValue[]> = {
  ascii: ['', 'A', 'a', 'ab', 'b', '\x7f'],
  bigint: ['-9223372036854775808', '-1', '0', '9007199254740992', '9007199254740993', '9223372036854775807'],
  blob: ['00', '0001', '01', '7f', '80', 'ff'].map((hex) => Buffer.from(hex, 'hex')),
  boolean: [false, true],
  date: ['-000044-03-15', '0001-01-01', '1970-01-01', '2020-07-09', '2020-07-10', '+012345-06-07'],
  decimal: ['-10.5', '-0.1', '0', '0.1', '1', '12345678901234567890.5'],
  double: [-1e300, -0.5, -0, 0, 0.1, 1e300],
  float: [-(2 ** 100), -0.5, -0, 0, 0.5, 2 ** 100],
  int: [-(2 ** 31), -1, 0, 1, 300, 2 ** 31 - 1],
  smallint: [-32_768, -1, 0, 1, 300, 32_767],
  text: ['', 'a', 'ab', 'b', '\uff5e', '\u{10000}'],
  time: ['00:00:00', '00:00:00.000000001', '08:30:00', '08:30:00.5', '23:59:59', '23:59:59.999999999'],
  timestamp: [-1, 0, 1, 1594279800000, 1594279800001, 253402300799999].map((ms) => new Date(ms)),
  // Cassandra orders these values by time (unsigned), and then by each byte (signed). The smallest byte is 80 and the
  // largest byte is 7f.
  timeuuid: [
    '00000000-0000-1000-8080-808080808080',
    '00000000-0000-1000-8000-808080808080',
    '00000001-0000-1000-8080-808080808080',
    '00000000-0001-1000-8080-808080808080',
    '00000000-0000-1001-8080-808080808080',
    'ffffffff-ffff-1fff-bf7f-7f7f7f7f7f7f',
  ],
  tinyint: [-128, -1, 0, 1, 30, 127],
  uuid: [
    '00000001-0000-1000-8000-000000000000',
    '00000000-0001-1000-8000-000000000000',
    '00000000-0000-4000-8000-000000000000',
    '00000000-0000-4000-80ff-000000000000',
    '7fffffff-0000-4000-8000-000000000000',
    '80000000-0000-4000-8000-000000000000',
  ],
  varchar: ['', 'a', 'ab', 'b', '\uff5e', '\u{10000}'],
  varint: [
    '-340282366920938463463374607431768211456',
    '-1',
    '0',
    '1',
    '255',
    '340282366920938463463374607431768211456',
  ],
};

/** The properties in which the tables of the cases differ. */
export interface ModelShape {
  clustering: { type: CqlKeyType; order: 'ASC' | 'DESC' }[];
  /** Whether the partition key has a second column. */
  byRegion?: boolean;
  /** Values of each type, in order. @default `MODEL_VALUES` */
  values?: Record<CqlKeyType, CqlValue[]>;
}

/**
 * The names of the clustering columns. Two names require quotes: `order` is a keyword, and `Title` has a capital
 * letter.
 */
const CLUSTERING_NAMES = ['created', 'order', 'Title'];

export function modelConfig(shape: ModelShape, tableName: string): ShardedKeyspacesConfig {
  return keyspacesConfig({
    tableName,
    partitionKey: [
      { name: 'day', type: 'text' },
      ...(shape.byRegion ? [{ name: 'region', type: 'int' as const }] : []),
    ],
    clusteringColumns: shape.clustering.map((column, index) => ({ name: CLUSTERING_NAMES[index]!, ...column })),
    columns: ['headline', 'body'],
    strategy: 'random',
  });
}

/** The operations of a real or a fake table that a case needs. */
export interface ModelTable {
  client: CqlClient;
  insert(rows: CqlRow[]): Promise<void>;
  delete(rows: CqlRow[]): Promise<void>;
  /** Writes a static column to these partitions. A partition may have no rows. */
  insertStatic(keys: CqlRow[]): Promise<void>;
}

/** A row in the oracle. `ranks` has the position of each clustering value in the ordered values of its type. */
interface Entry {
  row: CqlRow;
  /** The value of the shard column, plus 10,000 for each value before this value. */
  shard: number;
  ranks: number[];
}

/** The delays and errors that the test adds to the requests of the server, on a virtual clock. */
interface ModelFaults {
  clock: VirtualClock;
  /** The time of each request. */
  latencyMs(): number;
  fault(): Error | undefined;
}

/** The maximum number of shards of one value. */
const SHARDS_OF_A_VALUE = 10_000;

/** The kinds of conditions, and the ranks that meet each of them. */
const MEETS: Record<string, (rank: number, low: number, high: number) => boolean> = {
  eq: (rank, low) => rank === low,
  lt: (rank, low) => rank < low,
  lte: (rank, low) => rank <= low,
  gt: (rank, low) => rank > low,
  gte: (rank, low) => rank >= low,
  both: (rank, low, high) => rank > low && rank <= high,
  between: (rank, low, high) => rank >= low && rank <= high,
};
const KINDS = [...Object.keys(MEETS), 'beginsWith'];
const TURNS_WITH_CHANGES = 8;
const MAX_ROWS = 150;

/** A fake table whose responses end after a random number of rows, and may be empty although more rows follow. */
export function fakeModelTable(shape: ModelShape, random: () => number): ModelTable {
  const empty = random() < 0.3;
  const mostRows = random() < 0.5 ? 1 + Math.floor(random() * 20) : undefined;
  const { partitionKey, shardColumn, clusteringColumns } = modelConfig(shape, 'fake');
  const table = new FakeCassandra(
    {
      partitionKey: [...partitionKey.map(({ name }) => name), shardColumn],
      clusteringColumns: clusteringColumns.map(({ name, order, type }) => ({
        name,
        order,
        compare: oracleOrder(type),
      })),
    },
    {
      pageRows: () => (mostRows === undefined ? 5_000 : 1 + Math.floor(random() * mostRows)),
      isEmptyPage: () => empty && random() < 0.2,
    },
  );
  return {
    client: table,
    insert: async (rows) => {
      for (const row of rows) table.insert(row);
    },
    delete: async (rows) => {
      for (const row of rows) table.delete(row);
    },
    insertStatic: async (keys) => {
      for (const key of keys) table.insertStatic(key);
    },
  };
}

/**
 * Compares by the positions in the list of values above. Text is compared directly, because conditions on text also use
 * other values.
 */
function oracleOrder(type: CqlKeyType): (a: string, b: string) => number {
  if (type === 'text' || type === 'varchar' || type === 'ascii')
    return (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const ranks = new Map<string, number>();
  for (const [rank, value] of MODEL_VALUES[type].entries()) {
    const text = textOf(value);
    ranks.set(text, rank);
    // The driver sends a time of day with all digits of the fraction.
    if (type === 'time') ranks.set(text.padEnd(9, '.').padEnd(18, '0'), rank);
  }
  return (a, b) => ranks.get(a)! - ranks.get(b)!;
}

/**
 * Runs one case from a seed. It creates rows in several shards of one or several values and reads all pages of a query. Between the
 * pages, rows are inserted and deleted, and shard counts increase and decrease. With faults, requests fail, are slow, or are sent
 * twice. Pages have deadlines, and some may omit shards.
 *
 * Each page equals the result of an oracle, which keeps all rows in one sorted list and returns the rows after the previous page. A
 * page that ends at its deadline contains the first rows of that result and has a cursor. A partial page contains all rows of the
 * shards that it does not omit. Each row that did not change is returned exactly once, unless a page omitted its shard.
 */
export async function playSelectCase(
  seed: number,
  shape: ModelShape,
  table: ModelTable,
  config: ShardedKeyspacesConfig,
  mostShards: number,
  faults?: ModelFaults,
): Promise<number> {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const oneOf = <E>(choices: readonly E[]): E => choices[below(choices.length)]!;

  const region = shape.byRegion && { region: below(3) };
  const days = [`case ${seed}`, ...(random() < 0.3 ? [`case ${seed} too`, `case ${seed} as well`] : [])];
  const values = days.slice(0, 1 + below(days.length)).map((day) => ({ day, ...region }));
  const { values: valuesOf = MODEL_VALUES } = shape;
  const columns = config.clusteringColumns;
  /** The count of each value. */
  const shards = values.map(() => 1 + below(oneOf([3, 12, 12, 50, mostShards].map((m) => Math.min(m, mostShards)))));
  const firstShard = below(2) * below(3);
  const limit = shards[0]! > 50 ? 10 + below(100) : 1 + below(oneOf([3, 10, 60]));
  const order = oneOf<FanOutOrder | undefined>(['ascending', 'descending', 'unordered', undefined]);
  const bytesLimit = random() < 0.2 ? 1 + below(20) : undefined;
  const pageLimit = Math.min(limit, bytesLimit ?? limit);
  const { where, matches } = conditions();
  const projection = random() < 0.3 ? ['body'] : undefined;
  const request: FanOutSelectRequest = {
    ...(values.length === 1 && random() < 0.9 ? { value: values[0]! } : { values }),
    limit,
    ...(order && { order }),
    where,
    ...(projection && { projection }),
  };
  const ownOrder = columns[0]!.order === 'ASC' ? 'ascending' : 'descending';
  const reversed = order !== undefined && order !== 'unordered' && order !== ownOrder;

  let created = 0;
  const entries = new Map<string, Entry>();
  const keyOf = ({ shard, ranks }: Entry): string => [shard, ...ranks].join();
  await put(Array.from({ length: below(oneOf([10, 60, MAX_ROWS])) }, fresh));
  if (random() < 0.2) {
    const used = new Set([...entries.values()].map(({ shard }) => shard));
    const all = Array.from({ length: shards[0]! }, (_, shard) => firstShard + shard);
    const free = all.filter((shard) => !used.has(shard));
    await table.insertStatic(free.slice(0, 5).map((shard) => ({ ...values[0], shard })));
  }

  const history = random() < 0.5 || faults ? new FanOutHistory() : undefined;
  const client = faults === undefined ? table.client : unreliable(table.client, faults);
  const leftAlone = new Map([...entries]);
  const lost = new Set<number>();
  const shown: string[] = [];
  let last: Entry | undefined;
  let cursor: string | undefined;
  let requests = 0;
  for (let turn = 0; ; turn++) {
    const rest = [...entries.values()]
      .filter(matches)
      .filter((entry) => last === undefined || compare(entry, last) > 0)
      .sort(compare);
    const counted = { ...config, firstShard, shards: countsNow() };
    const partial = faults !== undefined && random() < 0.2;
    const deadlineMs = faults !== undefined && random() < 0.3 ? below(150) : undefined;
    const options: FanOutSelectOptions = {
      history,
      ...(bytesLimit && { maxPageBytes: bytesLimit, bytesOf: () => 1 }),
      ...(faults && {
        clock: faults.clock,
        random,
        attempts: partial ? 2 : 100,
        backoffBaseMs: 1,
        backoffCapMs: 4,
        concurrency: 1 + below(60),
        hedgeBudget: oneOf([0, 0.02, 0.1]),
        onShardFailure: partial ? 'partial' : 'fail',
        deadlineMs,
      }),
    };
    const ask = (given: FanOutSelectOptions) => {
      const asked = fanOutSelect(client, counted, { ...request, cursor }, given);
      return faults === undefined ? asked : faults.clock.runUntil(asked);
    };
    const page = await ask(options).catch((error: unknown) => {
      // At the deadline, the query could not yet know the next row, or no shard had responded.
      if ((deadlineMs === undefined && !partial) || !(error instanceof EvenShardsError)) throw error;
      if (error.code !== 'SHARDS_UNAVAILABLE') throw error;
      return ask({ ...options, deadlineMs: undefined, onShardFailure: 'fail', attempts: 100 });
    });
    requests += page.stats.requests;

    const missing = page.missingShards ?? [];
    for (const shard of missing) lost.add(shard);
    const expected = missing.length === 0 ? rest : whatCanBeThere(page.rows, rest, missing);
    const early = page.cursor !== undefined && (deadlineMs !== undefined || missing.length > 0);
    const ids = page.rows.map(({ body }) => body as number);
    const expectedIds = expected.slice(0, early ? ids.length : pageLimit).map(({ row }) => row.body as number);
    if (ids.join() !== expectedIds.join()) throw new Error(`page ${turn} contains ${ids} instead of ${expectedIds}`);
    if (page.cursor === undefined && expected.length > ids.length) throw new Error(`page ${turn} ends too early`);
    if (page.cursor !== undefined && ids.length < pageLimit && !early)
      throw new Error(`page ${turn} is not full but has a cursor`);
    const names = Object.keys(page.rows[0] ?? {});
    if (projection !== undefined && names.some((name) => name !== 'body')) throw new Error(`page ${turn} has ${names}`);
    shown.push(...expected.slice(0, ids.length).map(keyOf));
    if (page.cursor === undefined) break;
    if (page.cursor.length > (shape.values ? 8_000 : 400))
      throw new Error(`the cursor has ${page.cursor.length} characters`);
    last = expected[ids.length - 1] ?? last;
    cursor = page.cursor;
    if (turn < TURNS_WITH_CHANGES && random() < 0.7) await changeSomething();
  }
  const times = new Map<string, number>();
  for (const key of shown) times.set(key, (times.get(key) ?? 0) + 1);
  for (const [key, entry] of leftAlone) {
    const due = matches(entry) ? 1 : 0;
    const found = times.get(key) ?? 0;
    if (found !== due && !(found === 0 && lost.has(entry.shard)))
      throw new Error(`${key} was returned ${found} times instead of ${due} times`);
  }
  return requests;

  function countsNow(): ShardedKeyspacesConfig['shards'] {
    const counts = values.slice(1).map((value, index) => [Object.values(value).join('#'), shards[index + 1]!] as const);
    const byValue = Object.fromEntries(counts.map(([text, read]) => [text, { write: 1, read }]));
    return { default: { write: 1, read: shards[0]! }, ...(values.length > 1 && { byValue }) };
  }

  function compare(a: Entry, b: Entry): number {
    const direction = reversed ? -1 : 1;
    if (order === 'unordered' && a.shard !== b.shard) return a.shard - b.shard;
    for (const [index, column] of columns.entries()) {
      const difference = a.ranks[index]! - b.ranks[index]!;
      if (difference !== 0) return (column.order === 'ASC' ? difference : -difference) * direction;
    }
    return (a.shard - b.shard) * direction;
  }

  /** Returns the rows that a page may contain: some rows of a missing shard, and every row of the other shards. */
  function whatCanBeThere(rows: readonly CqlRow[], rest: readonly Entry[], missing: readonly number[]): Entry[] {
    const there = new Set(rows.map(({ body }) => body));
    return rest.filter(({ row, shard }) => !missing.includes(shard) || there.has(row.body));
  }

  function fresh(): Entry {
    const ranks = columns.map(({ type }) => below(valuesOf[type].length));
    const of = below(values.length);
    const shard = firstShard + below(shards[of]!);
    const key = columns.map(({ name, type }, index) => [name, valuesOf[type][ranks[index]!]]);
    const row = { ...values[of], shard, ...Object.fromEntries(key), headline: 'h'.repeat(below(50)), body: created++ };
    return { row, shard: of * SHARDS_OF_A_VALUE + shard, ranks };
  }

  async function put(fresh: Entry[]): Promise<void> {
    const last = new Map(fresh.map((entry) => [keyOf(entry), entry]));
    for (const [key, entry] of last) entries.set(key, entry);
    await table.insert([...last.values()].map(({ row }) => row));
  }

  async function remove(removed: Entry[]): Promise<void> {
    for (const entry of removed) {
      entries.delete(keyOf(entry));
      leftAlone.delete(keyOf(entry));
    }
    await table.delete(removed.map(({ row }) => row));
  }

  async function changeSomething(): Promise<void> {
    const of = below(values.length);
    if (random() < 0.2) shards[of] = Math.min(mostShards, shards[of]! + below(4));
    if (random() < 0.1 && shards[of]! > 1) {
      // Before a decrease, every row of the removed shards is deleted.
      shards[of] = 1 + below(shards[of]!);
      const [begin, end] = [
        of * SHARDS_OF_A_VALUE + firstShard + shards[of],
        (of + 1) * SHARDS_OF_A_VALUE + firstShard,
      ];
      await remove([...entries.values()].filter(({ shard }) => shard >= begin && shard < end));
    }
    const added: Entry[] = [];
    for (let count = below(4); count > 0; count--) {
      if (entries.size === 0 || random() < 0.5) {
        const entry = fresh();
        leftAlone.delete(keyOf(entry));
        added.push(entry);
      } else {
        await remove([oneOf([...entries.values()])]);
      }
    }
    await put(added);
  }

  /** Random conditions, and the function with which the oracle checks the same conditions. */
  function conditions(): { where: FanOutSelectRequest['where']; matches(entry: Entry): boolean } {
    if (random() < 0.4) return { where: undefined, matches: () => true };
    const where: Record<string, ClusteringCondition> = {};
    const tests: ((ranks: number[]) => boolean)[] = [];
    const prefix = below(columns.length + 1);
    for (const [index, { name, type }] of columns.entries()) {
      const values = valuesOf[type];
      const [low, high] = [below(values.length), below(values.length)].sort((a, b) => a - b) as [number, number];
      const isText = type === 'text' || type === 'varchar' || type === 'ascii';
      const kind = index < prefix ? 'eq' : oneOf(isText ? KINDS : KINDS.slice(0, -1));
      where[name] = conditionOf(kind, values[low]!, values[high]!);
      const begins = (rank: number) => String(values[rank]).startsWith(String(values[low]));
      tests.push((ranks) => (MEETS[kind] ?? begins)(ranks[index]!, low, high));
      if (kind !== 'eq' || random() < 0.3) break;
    }
    return { where, matches: ({ ranks }) => tests.every((test) => test(ranks)) };
  }
}

function conditionOf(kind: string, low: CqlValue, high: CqlValue): ClusteringCondition {
  if (kind === 'both') return { gt: low, lte: high };
  if (kind === 'between') return { between: [low, high] };
  return { [kind]: low } as unknown as ClusteringCondition;
}

/** Each request takes time on a virtual clock and may fail at its end. */
function unreliable(client: CqlClient, { clock, latencyMs, fault }: ModelFaults): CqlClient {
  return {
    async execute(query, parameters, options) {
      await clock.sleep(latencyMs());
      const error = fault();
      if (error !== undefined) throw error;
      return client.execute(query, parameters, options);
    },
  };
}
