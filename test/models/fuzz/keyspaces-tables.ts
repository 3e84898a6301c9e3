import {
  type ClusteringCondition,
  type CqlClient,
  type CqlKeyType,
  type CqlRow,
  type CqlValue,
  FanOutHistory,
  type FanOutSelectOptions,
  type FanOutSelectPage,
  type FanOutSelectRequest,
  fanOutSelect,
  InvalidArgumentError,
  type ShardedKeyspacesConfig,
  type StatementResult,
  selectRow,
  shardColumns,
} from '../../../lib/core';
import { MAX_INDEX_SHARDS } from '../../../lib/core/sharding/shard-count';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { FakeCassandra, textOf } from '../../support/fakes/fake-cassandra';
import { CANARY, type Dice, hostileValue, mutated, mutatedText } from '../../support/random-json';
import { asCaller, asDriver, KEY_VALUES } from './cql-values';
import type { FuzzCase } from './fuzz-case';
import type { FuzzTarget } from './fuzz-target';
import { typed } from './oracle';

/**
 * Tables of Amazon Keyspaces whose keys are of any type, read and written by the functions of the library. A case draws from
 * all of these at once:
 *
 * - the table: columns, types and orders of the key, names that objects have by themselves, the first shard, the strategy
 * - its rows: values at the ends of their types, equal ones, in every notation and class that callers and the driver have
 * - the counts: one shard, a few, the most there can be, and counts that rise and fall between pages
 * - the driver: late, never, refusing, answering by throwing, without a promise, with rows and page states that are lies
 * - the clock: that it stands, jumps, and starts anywhere
 * - the reader: conditions, orders, bounds, hedges, deadlines, partial pages, cursors that were altered or are of another query
 * - mistakes: configurations, requests, options, clients and keys that are none
 */
export const KEYSPACES_TABLE_TARGET: FuzzTarget = { name: 'tables of Amazon Keyspaces', play };

const NAMES = [
  'created',
  'order',
  'Title',
  'constructor',
  'toString',
  'valueOf',
  '0',
  'hasOwnProperty',
  'x'.repeat(48),
];
const TYPES = Object.keys(KEY_VALUES) as CqlKeyType[];

/** Where the shard column, an `int`, ends for the most shards that a value can have. */
const LAST_FIRST_SHARD = 2 ** 31 - 1 - MAX_INDEX_SHARDS;

const MOST_PAGES = 12;

/** Much more than any page takes of the tables here. */
const MOST_REQUESTS = 60_000;

/** A stored row: the place of each clustering value among those of its type. */
interface Stored {
  row: CqlRow;
  shard: number;
  ranks: number[];
}

async function play(fuzzCase: FuzzCase): Promise<void> {
  const { dice } = fuzzCase;
  const table = new Table(dice);
  const clock = new VirtualClock();
  clock.nowMs = dice.pick([0, -1e6, 1e12]);
  const driver = new Driver(table, clock, dice);
  if (dice.chance(0.3)) await makeMistakes(table, driver, clock, dice);
  await readPages(fuzzCase, table, driver, clock);
  if (table.config.strategy === 'calculated') await readRows(table, driver, clock, dice);
  if (driver.requests > MOST_REQUESTS) throw new Error(`${driver.requests} requests`);
}

/** A table, and what is stored in it. */
class Table {
  readonly rows = new Map<string, Stored>();
  readonly store: FakeCassandra;
  readonly value: Record<string, CqlValue>;
  config: ShardedKeyspacesConfig;
  /** Every count that the value has had for writers. */
  readonly writeCounts: number[];
  private written = 0;

  constructor(private readonly dice: Dice) {
    const names = [...NAMES].sort(() => dice.random() - 0.5);
    const column = () => ({ name: names.pop()!, type: dice.pick(TYPES) });
    const partitionKey = Array.from({ length: dice.below(3) }, column);
    const clusteringColumns = Array.from({ length: 1 + dice.below(3) }, () => ({
      ...column(),
      order: dice.pick(['ASC', 'DESC'] as const),
    }));
    const strategy = dice.pick(['random', 'calculated'] as const);
    const mayFollow = clusteringColumns.map(({ name }) => name).filter(() => dice.chance(0.5));
    this.value = Object.fromEntries(partitionKey.map(({ name, type }) => [name, dice.pick(KEY_VALUES[type])]));
    this.config = {
      keyspaceName: 'k',
      tableName: 'rows',
      partitionKey,
      shardColumn: names.pop()!,
      firstShard: dice.pick([0, 1, LAST_FIRST_SHARD]),
      clusteringColumns,
      columns: ['body'],
      shards: { default: { write: 1, read: 1 } },
      strategy,
      ...(strategy === 'calculated' && mayFollow.length > 0 && { calculatedFrom: mayFollow }),
    };
    this.store = new FakeCassandra(
      {
        partitionKey: [...partitionKey.map(({ name }) => name), this.config.shardColumn],
        clusteringColumns: clusteringColumns.map(({ name, type, order }) => ({ name, order, compare: orderOf(type) })),
      },
      pagesOfStore(dice),
    );
    const read = dice.chance(0.005) ? MAX_INDEX_SHARDS : 1 + dice.below(dice.pick([2, 6, 40]));
    this.writeCounts = [];
    this.count(1 + dice.below(read), read);
    for (let rows = dice.below(dice.pick([3, 20, 80])); rows > 0; rows--) this.write();
  }

  get read(): number {
    return this.config.shards.default.read;
  }

  /** For the value of the case alone, or for all. */
  count(write: number, read: number): void {
    this.writeCounts.push(write);
    const { partitionKey } = this.config;
    const isOneText = partitionKey.length === 1 && ['text', 'varchar', 'ascii'].includes(partitionKey[0]!.type);
    const byValue =
      isOneText && this.dice.chance(0.5) ? { [String(this.value[partitionKey[0]!.name])]: { write, read } } : {};
    this.config = { ...this.config, shards: { default: { write, read }, byValue } };
  }

  /** A row as a writer of the library writes it. */
  write(): void {
    const { config, dice } = this;
    const ranks = config.clusteringColumns.map(({ type }) => dice.below(KEY_VALUES[type].length));
    const key = { ...this.value, ...this.keyOf(ranks) };
    const asGiven = () => this.given({ ...key, body: CANARY });
    const shard = shardColumns(config, asGiven())[config.shardColumn]!;
    if (config.strategy === 'calculated' && shardColumns(config, asGiven())[config.shardColumn] !== shard)
      throw new Error('the shard of a row depends on its notation');
    const { write } = config.shards.default;
    if (!(shard >= config.firstShard && shard < config.firstShard + write))
      throw new Error(`shard ${shard} of ${write}`);
    const row = { ...key, [config.shardColumn]: shard, body: this.written++ };
    this.rows.set([shard, ...ranks].join(), { row, shard, ranks });
    this.store.insert(row);
  }

  /** Takes one row away, or all behind a shard. */
  remove(stored: Stored): void {
    this.rows.delete([stored.shard, ...stored.ranks].join());
    this.store.delete(stored.row);
  }

  keyOf(ranks: readonly number[]): Record<string, CqlValue> {
    return Object.fromEntries(
      this.config.clusteringColumns.map(({ name, type }, index) => [name, KEY_VALUES[type][ranks[index]!]!]),
    );
  }

  /** The same values, each in one of the notations that callers have. */
  given(row: Record<string, unknown>): Record<string, never> {
    return this.mapped(row, asCaller) as Record<string, never>;
  }

  /** A row as the driver answers it. */
  answered(row: CqlRow): CqlRow {
    return this.mapped(row, asDriver);
  }

  private mapped(row: CqlRow, form: typeof asCaller): CqlRow {
    const { partitionKey, clusteringColumns } = this.config;
    const typeOf = new Map([...partitionKey, ...clusteringColumns].map(({ name, type }) => [name, type]));
    return Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        const type = typeOf.get(name);
        return [name, type === undefined || value === null ? value : form(type, value as CqlValue, this.dice)];
      }),
    );
  }
}

function pagesOfStore(dice: Dice) {
  const mostRows = dice.pick([undefined, 1, 7]);
  const empty = dice.pick([0, 0, 0.3]);
  return {
    pageRows: () => (mostRows === undefined ? 5_000 : 1 + dice.below(mostRows)),
    isEmptyPage: () => dice.chance(empty),
  };
}

/** By the list of values, but for text, of which conditions have other values too. */
function orderOf(type: CqlKeyType): (a: string, b: string) => number {
  if (['text', 'varchar', 'ascii'].includes(type)) return (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const texts = new Map(KEY_VALUES[type].map((value, rank) => [textOf(value), rank]));
  const rank = (text: string): number => {
    const found = texts.get(text);
    if (found === undefined) throw new Error(`${text.slice(0, 100)} is no ${type} of the case`);
    return found;
  };
  return (a, b) => rank(a) - rank(b);
}

/** What becomes of a request. After the last ones, the driver may have said what is not true. */
const HONEST_FATES = [
  'busy',
  'late',
  'lost connection',
  'no answer',
  'no connection',
  'no promise',
  'overloaded',
  'throttled',
  'throws',
  'timed out',
  'without rows',
] as const;
const LIES = [
  'forgets the next page',
  'leads back',
  'other values',
  'page state that is none',
  'refuses',
  'reversed',
  'rows that are none',
  'shows rows again',
] as const;
type Fate = 'honest' | 'never' | (typeof HONEST_FATES)[number] | (typeof LIES)[number];

/** What the driver of Node does on behalf of the table, and what it does not. */
class Driver implements CqlClient {
  requests = 0;
  hasLied = false;
  /** What it threw: the library may hand it on. */
  readonly threw = new Set<unknown>();
  /** Whether the store may refuse a statement: one that follows from a mistake. */
  mayBeRefused = false;
  /** Whether requests may stay without an answer. */
  mayBeSilent = false;
  private readonly rate: number;
  private readonly fates: readonly Fate[];
  private readonly before: CqlRow[] = [];

  constructor(
    private readonly table: Table,
    private readonly clock: VirtualClock,
    private readonly dice: Dice,
  ) {
    this.rate = dice.pick([0, 0, 0.05, 0.3]);
    this.fates = dice.chance(0.4) ? [...HONEST_FATES, ...LIES] : HONEST_FATES;
  }

  execute: CqlClient['execute'] = (query, parameters, options) => {
    this.requests += 1;
    if (this.requests > MOST_REQUESTS) throw Object.assign(new Error('too many requests'), { code: 0x2200 });
    const fate = this.dice.chance(this.rate) ? this.dice.pick(this.fates) : 'honest';
    if (fate === 'throws') throw this.failure({ code: 'ECONNRESET' });
    if (fate === 'no promise') return undefined as never;
    return this.answer(fate, () => this.table.store.execute(query, parameters, options), options.pageState);
  };

  private async answer(
    fate: Fate,
    ask: () => Promise<StatementResult>,
    asked: string | undefined,
  ): Promise<StatementResult> {
    const { clock, dice } = this;
    if (this.mayBeSilent && dice.chance(this.rate / 4)) return new Promise(() => {});
    await clock.sleep(fate === 'late' ? dice.below(5_000) : dice.below(10));
    if (dice.chance(0.02)) clock.nowMs += dice.pick([1, 1_000, 3_600_000]);
    const { rows, pageState } = await ask().catch((error) => {
      if (this.mayBeRefused) this.threw.add(error);
      throw error;
    });
    const answer = { rows: rows.map((row) => this.table.answered(row)), pageState };
    if ((LIES as readonly Fate[]).includes(fate)) this.hasLied = true;
    switch (fate) {
      case 'busy':
        throw this.failure({ name: 'NoHostAvailableError', innerErrors: { a: { name: 'BusyConnectionError' } } });
      case 'lost connection':
        throw this.failure({ isSocketError: true });
      case 'no connection':
        throw this.failure({ message: 'No connection available' });
      case 'overloaded':
        throw this.failure({ name: 'ResponseError', code: 0x1001 });
      case 'throttled':
        throw this.failure({ name: 'ResponseError', code: 0x1200 });
      case 'timed out':
        throw this.failure({ name: 'OperationTimedOutError' });
      case 'refuses':
        throw this.refusal();
      case 'no answer':
        return dice.pick([undefined, null, CANARY, 5, []]) as never;
      case 'without rows':
        return { pageState: 'x', rows: dice.pick([undefined, null, {}, CANARY]) as never };
      case 'rows that are none':
        return { ...answer, rows: [...answer.rows, hostileValue(dice) as object] };
      case 'other values':
        return { ...answer, rows: answer.rows.map((row) => this.otherValues(row)) };
      case 'reversed':
        return { ...answer, rows: answer.rows.reverse() };
      case 'shows rows again':
        return { ...answer, rows: [...answer.rows, ...this.before] };
      case 'forgets the next page':
        return { ...answer, pageState: null };
      case 'leads back':
        return { rows: [], pageState: asked === 'a' ? 'b' : 'a' };
      case 'page state that is none':
        return { ...answer, pageState: dice.pick(['', CANARY, 5, {}, true, asked]) as string };
      default:
        this.before.splice(0, this.before.length, ...answer.rows.slice(-2));
        return answer;
    }
  }

  private failure(like: object): Error {
    const error = Object.assign(new Error(CANARY), like);
    this.threw.add(error);
    return error;
  }

  private refusal(): unknown {
    const { dice } = this;
    const error = dice.pick([undefined, null, CANARY, this.failure({ code: 0x2200 }), hostileValue(dice)]);
    this.threw.add(error);
    return error;
  }

  private otherValues(row: CqlRow): CqlRow {
    const { dice } = this;
    return Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, dice.chance(0.3) ? hostileValue(dice) : value]),
    );
  }
}

/** What a read came to; undefined if it was refused, or if the driver failed for good. */
async function outcome<T>(driver: Driver, clock: VirtualClock, work: () => Promise<T>): Promise<T | undefined> {
  const unlessDriverThrew = (error: unknown): undefined => {
    if (!driver.threw.has(error)) throw error;
  };
  return typed(() => clock.runUntil(work()).catch(unlessDriverThrew));
}

async function readPages(fuzzCase: FuzzCase, table: Table, driver: Driver, clock: VirtualClock): Promise<void> {
  const { dice } = fuzzCase;
  const { where, matches } = conditions(table, dice);
  const request: FanOutSelectRequest = {
    value: table.given(table.value),
    ...(where && { where }),
    order: dice.pick(['ascending', 'descending', 'unordered', undefined]),
    limit: dice.pick([1, 3, 20, undefined]),
    projection: dice.pick([['body'], undefined]),
    consistency: dice.pick(['LOCAL_ONE', 'LOCAL_QUORUM', undefined]),
  };
  const compare = orderOfRows(table.config, request.order);
  const history = dice.pick([new FanOutHistory(), undefined]);
  const leftAlone = new Map(table.rows);
  const shown = new Map<number, number>();
  let last: Stored | undefined;
  let cursor: string | undefined;
  let leftOut = false;
  const mostPages = table.read === MAX_INDEX_SHARDS ? 2 : MOST_PAGES;
  for (let turn = 0; turn < mostPages; turn++) {
    const options = optionsOf(history, clock, dice);
    driver.mayBeSilent = options.deadlineMs !== undefined;
    fuzzCase.begins(`page ${turn} of ${JSON.stringify(table.config)}`);
    const page = await outcome(driver, clock, () =>
      fanOutSelect(driver, table.config, { ...request, cursor }, options),
    );
    if (page === undefined || driver.hasLied) {
      if (page?.cursor === undefined || page.cursor === cursor) return;
      cursor = page.cursor;
      continue;
    }
    leftOut ||= page.missingShards !== undefined;
    const rest = [...table.rows.values()]
      .filter((row) => matches(row) && (!last || compare(row, last) > 0))
      .sort(compare);
    const mayBeShort = options.deadlineMs !== undefined || options.maxPageBytes !== undefined || page.missingShards;
    checkPage(page, rest, request.limit, Boolean(mayBeShort));
    const there = rest.filter(({ row }) => page.rows.some(({ body }) => body === row.body));
    for (const { row } of there) shown.set(row.body, (shown.get(row.body) ?? 0) + 1);
    last = there.at(-1) ?? last;
    cursor = page.cursor;
    if (cursor === undefined) break;
    await refuseOtherCursors(table, driver, clock, { ...request, cursor }, dice);
    for (const gone of changeTable(table, dice)) leftAlone.delete(gone);
  }
  if (cursor !== undefined || driver.hasLied) return;
  for (const stored of leftAlone.values()) {
    const times = shown.get(stored.row.body) ?? 0;
    const due = matches(stored) ? 1 : 0;
    if (times !== due && !(leftOut && times === 0)) throw new Error(`row ${stored.row.body} was shown ${times} times`);
  }
}

function optionsOf(history: FanOutHistory | undefined, clock: VirtualClock, dice: Dice): FanOutSelectOptions {
  const maxPageBytes = dice.pick([undefined, undefined, 1, 300]);
  return {
    clock,
    random: dice.random,
    attempts: 100,
    backoffBaseMs: dice.pick([0, 50]),
    backoffCapMs: dice.pick([0, 1_000]),
    concurrency: dice.pick([1, 3, 50, 20_000]),
    ...(dice.chance(0.2) && { deadlineMs: dice.pick([0, 5, 30, 20_000]) }),
    onShardFailure: dice.pick(['fail', 'partial'] as const),
    ...(history && { history, hedgeBudget: dice.pick([0, 0.1]) }),
    ...(maxPageBytes && { maxPageBytes }),
  };
}

/** A page holds the next rows, in order; all there is room for unless it may be short; none twice. */
function checkPage(
  page: FanOutSelectPage,
  rest: readonly Stored[],
  limit = Number.POSITIVE_INFINITY,
  mayBeShort: boolean,
): void {
  const bodies = page.rows.map(({ body }) => body as number);
  const missing = page.missingShards ?? [];
  const expected = rest.filter(({ row, shard }) => !missing.includes(shard) || bodies.includes(row.body));
  const wanted = expected.slice(0, mayBeShort && page.cursor !== undefined ? bodies.length : limit);
  if (String(bodies) !== String(wanted.map(({ row }) => row.body)))
    throw new Error(`holds ${bodies}, not ${wanted.map(({ row }) => row.body)}`);
  if (page.cursor === undefined && expected.length > bodies.length) throw new Error('ends too early');
  if ((page.cursor?.length ?? 0) > 8_000) throw new Error(`a cursor of ${page.cursor!.length} characters`);
}

function orderOfRows(
  { clusteringColumns }: ShardedKeyspacesConfig,
  order: FanOutSelectRequest['order'],
): (a: Stored, b: Stored) => number {
  const own = clusteringColumns[0]!.order === 'ASC' ? 'ascending' : 'descending';
  const direction = order === undefined || order === 'unordered' || order === own ? 1 : -1;
  return (a, b) => {
    if (order === 'unordered' && a.shard !== b.shard) return a.shard - b.shard;
    for (const [index, column] of clusteringColumns.entries()) {
      const difference = a.ranks[index]! - b.ranks[index]!;
      if (difference !== 0) return (column.order === 'ASC' ? difference : -difference) * direction;
    }
    return (a.shard - b.shard) * direction;
  };
}

/** Conditions with the oracle's own idea of what meets them. */
function conditions(table: Table, dice: Dice): { where: FanOutSelectRequest['where']; matches(row: Stored): boolean } {
  if (dice.chance(0.5)) return { where: undefined, matches: () => true };
  const where: Record<string, ClusteringCondition> = {};
  const tests: ((ranks: readonly number[]) => boolean)[] = [];
  const { clusteringColumns } = table.config;
  const equal = dice.below(clusteringColumns.length + 1);
  for (const [index, { name, type }] of clusteringColumns.slice(0, equal + 1).entries()) {
    const values = KEY_VALUES[type];
    const [low, high] = [dice.below(values.length), dice.below(values.length)].sort((a, b) => a - b) as [
      number,
      number,
    ];
    const [from, to] = [low, high].map((rank) => asCaller(type, values[rank]!, dice) as CqlValue) as [
      CqlValue,
      CqlValue,
    ];
    if (index < equal) {
      where[name] = { eq: from };
      tests.push((ranks) => ranks[index] === low);
    } else if (['text', 'varchar', 'ascii'].includes(type) && dice.chance(0.4)) {
      where[name] = { beginsWith: from as string };
      tests.push((ranks) => String(values[ranks[index]!]).startsWith(String(values[low])));
    } else {
      const [lower, upper] = [dice.pick(['gt', 'gte'] as const), dice.pick(['lt', 'lte'] as const)];
      where[name] = { [lower]: from, [upper]: to };
      tests.push(
        ({ [index]: rank = -1 }) =>
          (lower === 'gt' ? rank > low : rank >= low) && (upper === 'lt' ? rank < high : rank <= high),
      );
    }
  }
  return { where, matches: ({ ranks }) => tests.every((test) => test(ranks)) };
}

/** What somebody else does between two pages. Returns the rows that were not left alone. */
function changeTable(table: Table, dice: Dice): string[] {
  const before = new Map(table.rows);
  const { write, read } = table.config.shards.default;
  if (dice.chance(0.2) && read < 1_000) table.count(1 + dice.below(read + 3), read + 3);
  if (dice.chance(0.1)) {
    const fewer = 1 + dice.below(write);
    for (const stored of [...table.rows.values()])
      if (stored.shard >= table.config.firstShard + fewer) table.remove(stored);
    table.count(fewer, fewer);
  }
  for (let changes = dice.below(4); changes > 0; changes--) {
    if (table.rows.size === 0 || dice.chance(0.5)) table.write();
    else table.remove(dice.pick([...table.rows.values()]));
  }
  return [...before].filter(([key, stored]) => table.rows.get(key) !== stored).map(([key]) => key);
}

/** A cursor that was altered, or that another query got, is refused before anything is asked. */
async function refuseOtherCursors(
  table: Table,
  driver: Driver,
  clock: VirtualClock,
  request: FanOutSelectRequest & { cursor: string },
  dice: Dice,
): Promise<void> {
  if (dice.chance(0.7)) return;
  const { order, cursor } = request;
  const others: FanOutSelectRequest[] = [
    { ...request, cursor: mutatedText(cursor, dice) },
    { ...request, cursor: `${cursor}=` },
    { ...request, cursor: Buffer.from(cursor, 'base64url').toString('base64') },
    { ...request, cursor: Buffer.concat([Buffer.from(cursor, 'base64url').subarray(1)]).toString('base64url') },
    { ...request, order: order === 'unordered' ? 'ascending' : 'unordered' },
    { ...request, cursor: hostileValue(dice) as string },
  ];
  const other = dice.pick(others);
  if (other.cursor === undefined || (other.cursor === cursor && other.order === order)) return;
  const { requests } = driver;
  const page = await outcome(driver, clock, () => fanOutSelect(driver, table.config, other, { clock }));
  if (page !== undefined || driver.requests > requests) throw new Error(`passed as a cursor: ${other.cursor}`);
}

/** Each row is found again by its key, in whatever notation, under the count of now or an earlier one; and no other is. */
async function readRows(table: Table, driver: Driver, clock: VirtualClock, dice: Dice): Promise<void> {
  driver.mayBeSilent = false;
  const found = [...table.rows.values()].filter(() => dice.chance(0.2));
  for (const { row, ranks } of found) {
    const key = table.given({ ...table.value, ...table.keyOf(ranks) });
    const options = { formerShardCounts: table.writeCounts, projection: ['body'] };
    const read = await outcome(driver, clock, async () => ({
      row: await selectRow(driver, table.config, key, options),
    }));
    if (driver.hasLied || read === undefined) continue;
    const twins = [...table.rows.values()].filter((other) => String(other.ranks) === String(ranks));
    if (!twins.some((twin) => twin.row.body === read.row?.body))
      throw new Error(`${read.row?.body} in place of ${row.body}`);
  }
}

/** Configurations, requests, options, clients and keys that are none: a typed error before anything is asked, or an answer. */
async function makeMistakes(table: Table, driver: Driver, clock: VirtualClock, dice: Dice): Promise<void> {
  const { config } = table;
  const request: FanOutSelectRequest = {
    value: table.value as never,
    order: 'ascending',
    limit: 5,
    consistency: 'LOCAL_ONE',
    projection: ['body'],
    where: {},
  };
  const options = {
    attempts: 2,
    concurrency: 3,
    deadlineMs: 100,
    maxPageBytes: 1_000,
    hedgeBudget: 0,
    onShardFailure: 'fail',
  };
  const changed = <T>(json: T): T => (dice.chance(0.5) ? json : (mutated(JSON.parse(JSON.stringify(json)), dice) as T));
  const client = dice.chance(0.1) ? (hostileValue(dice) as CqlClient) : driver;
  const clocks = { clock: dice.chance(0.1) ? ((hostileValue(dice) ?? null) as never) : clock };
  const others = dice.chance(0.2) && {
    history: hostileValue(dice),
    random: dice.pick([hostileValue(dice), undefined]),
  };
  const wrongConfig = changed(config);
  const refusals = [
    () => shardColumns(wrongConfig, changed({ ...table.value, ...table.keyOf(config.clusteringColumns.map(() => 0)) })),
    () =>
      fanOutSelect(
        client,
        wrongConfig,
        changed(request),
        dice.chance(0.05) ? (hostileValue(dice) as never) : ({ ...changed(options), ...clocks, ...others } as never),
      ),
    () =>
      selectRow(
        client,
        wrongConfig,
        changed({ ...table.value, ...table.keyOf(config.clusteringColumns.map(() => 0)) }),
        changed({ formerShardCounts: [1, 2], consistency: 'LOCAL_ONE', projection: ['body'] }) as never,
      ),
  ];
  driver.mayBeRefused = true;
  for (const work of refusals) {
    const { requests } = driver;
    const before = driver.threw.size;
    await outcome(driver, clock, async () => {
      try {
        return await work();
      } catch (error) {
        if (error instanceof InvalidArgumentError && driver.requests > requests && driver.threw.size === before)
          throw new Error(`refused too late: ${error.message}`);
        throw error;
      }
    });
  }
  driver.mayBeRefused = false;
}
