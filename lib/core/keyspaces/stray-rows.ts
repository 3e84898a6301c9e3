import { InvalidCursorError } from '../fan-out/fan-out-errors';
import { backoffMs } from '../kernel/backoff';
import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { type PageTrail, trailTo } from '../kernel/pages';
import { checkGoingOn, pause, Stopped } from '../kernel/pause';
import { sealedText, unsealedValue } from '../kernel/sealed-text';
import { CONSISTENCY_LEVELS, type CqlClient, type CqlRow, checkCqlClient } from './cql-client';
import { cqlFailure } from './cql-failure';
import { UnreadableRowError } from './keyspaces-errors';
import { type Partitioner, partitionerOf, tokensOfSegment } from './partitioner';
import { quoted } from './select-statement';
import { selectWholeRows } from './select-whole-rows';
import { shardOfRow } from './shard-columns';
import { columnNames, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { checkOnce, partitionValues, shardsOfValue } from './shards-of-value';

/** A row that is not in the shard where a writer would put it. */
export interface StrayRow {
  row: CqlRow;
  /** The shard that holds it, as the shard column has it. */
  shard: number;
  /** The shard where a writer would put it. */
  shardOfWriters: number;
  /** Whether no query for its value reads its shard. */
  isHidden: boolean;
}

/** Which part of a table to scan, and how fast. */
export interface StrayRowsOptions<Report extends StrayRowsReport = StrayRowsReport> {
  /**
   * Which of the segments to scan, from 0 to `totalSegments` - 1. Segments can be scanned at the same time.
   * @default 0
   */
  segment?: number;
  /**
   * How many parts of the same number of tokens the table is divided into, from 1 to 1,000,000.
   * @default 1, so one walk goes over the whole table
   */
  totalSegments?: number;
  /**
   * The `resumePoint` of an earlier report of the same table, counts, segment and partitioner: the scan goes on there.
   * @default the beginning of the segment
   */
  resumeFrom?: string;
  /**
   * The most rows to read a second, a number greater than 0.
   * @default no limit: the next page is read when the last one is done
   */
  rowsPerSecond?: number;
  /** Called after every page with the report so far, and awaited. Keep its `resumePoint`. */
  onProgress?(report: Report): void | Promise<void>;
  /**
   * The most attempts at a request that is throttled, times out or loses its connection, at least 1, with waits of up to ten seconds
   * in between. The driver should make none of its own.
   * @default 10
   */
  attempts?: number;
  /**
   * Ends a scan after the present page, and a move of rows after the present row. The report then has a `resumePoint`, from
   * which the next call goes on: a move begins its page again.
   * @default the scan goes on to the end of the segment
   */
  signal?: AbortSignal;
  /** @default the clock of the system */
  clock?: Clock;
  /**
   * A source of numbers in [0, 1), for the jitter of the waits.
   * @default Math.random
   */
  random?: () => number;
}

/** What a scan has found so far. The reports of all segments add up to the report of the table. */
export interface StrayRowsReport {
  rowsScanned: number;
  strays: number;
  /** How many of the strays are in shards that no query for their value reads. */
  hidden: number;
  /** Pass it as `resumeFrom` to go on: what the next report counts is to be added to this one. Absent if the segment is complete. */
  resumePoint?: string;
}

/** The rows of a page. A scan that is interrupted reads its page again. */
const PAGE_ROWS = 1_000;

const MAX_SEGMENTS = 1_000_000;

/** The waits add up to 16 seconds on average, so a partition that is hot for a moment does not end a move of hours. */
const ATTEMPTS = 10;
const BACKOFF = { backoffBaseMs: 100, backoffCapMs: 10_000 };

/** Where a scan has read up to. A page state belongs to the partitioner by whose tokens the pages are ordered. */
interface LastPage {
  partitioner: string;
  pageState: string;
}

/** Stands for the beginning, which is the same with every partitioner. */
const BEGIN = '';

/**
 * Scans a table, or a segment of it, for rows that are not in the shard of their writers: a change of a count left them
 * there, or a client with another rule put them there. It writes nothing. `reshardRows` moves them.
 *
 * @param options what to scan, and how fast; `onStray` is told of each stray, and awaited
 * @throws InvalidArgumentError, or one of its subclasses, before a row is read; UnknownPartitionerError; UnreadableRowError;
 *   what the client throws
 */
export function findStrayRows(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  options: StrayRowsOptions & { onStray?(stray: StrayRow): void | Promise<void> } = {},
): Promise<StrayRowsReport> {
  const report: StrayRowsReport = { rowsScanned: 0, strays: 0, hidden: 0 };
  return scanStrayRows(client, config, options, report, async (stray) => options.onStray?.(stray));
}

/**
 * Walks a segment page by page, and handles each stray before it reads the next page. The rows of a page are counted when
 * the whole page is done. A scan that ends within a page reads that page again later.
 */
export async function scanStrayRows<Report extends StrayRowsReport>(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  options: StrayRowsOptions<Report>,
  report: Report,
  treat: (stray: StrayRow) => Promise<void>,
): Promise<Report> {
  checkCqlClient(client);
  checkOnce(config);
  const { segment, totalSegments, rowsPerSecond, clock, signal, onProgress } = checkedOptions(options);
  const scan = [segment, totalSegments];
  const last = lastPage(config, scan, options.resumeFrom);
  report.resumePoint = options.resumeFrom ?? resumePoint(config, scan, BEGIN);
  try {
    checkGoingOn(signal);
    const partitioner = await untilAnswered(options, () => partitionerOf(client));
    let trail = resumeTrail(partitioner, last, options.resumeFrom);
    const statement = segmentStatement(config, tokensOfSegment(partitioner, segment, totalSegments));
    for (;;) {
      checkGoingOn(signal);
      const startedMs = clock.now();
      const { rows, pageState } = await untilAnswered(options, () =>
        selectWholeRows(client, statement, {
          prepare: true,
          consistency: CONSISTENCY_LEVELS.LOCAL_QUORUM,
          isIdempotent: true,
          fetchSize: PAGE_ROWS,
          ...(trail && { pageState: trail.page }),
        }),
      );
      const read = rows.filter((row) => row[config.clusteringColumns[0]!.name] !== null);
      for (const row of read) {
        const stray = strayOf(config, row);
        if (stray === undefined) continue;
        await treat(stray);
        report.strays += 1;
        if (stray.isHidden) report.hidden += 1;
      }
      report.rowsScanned += read.length;
      trail = pageState === undefined ? undefined : trailTo('SELECT', pageState, trail);
      if (trail === undefined) delete report.resumePoint;
      else report.resumePoint = resumePoint(config, scan, { partitioner: partitioner.name, pageState: trail.page });
      await onProgress?.(report);
      if (trail === undefined) break;
      const paceMs = rowsPerSecond === undefined ? 0 : (rows.length / rowsPerSecond) * 1_000;
      await pause(paceMs - (clock.now() - startedMs), clock, signal);
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  return report;
}

/** Makes another attempt, after a wait, if a request failed for a reason that another attempt can overcome. */
export async function untilAnswered<T>(
  { attempts = ATTEMPTS, random = Math.random, clock = systemClock, signal }: StrayRowsOptions<never>,
  ask: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask(attempt);
    } catch (error) {
      if (attempt >= attempts || cqlFailure(error) === 'final') throw error;
      await pause(backoffMs(attempt, { ...BACKOFF, random }), clock, signal);
    }
  }
}

/** The row as a stray; undefined if it is where writers put it. */
export function strayOf(config: ShardedKeyspacesConfig, row: CqlRow): StrayRow | undefined {
  const { shardColumn, firstShard, strategy, partitionKey, clusteringColumns } = config;
  const shard: number = row[shardColumn];
  try {
    const { write, read } = shardsOfValue(config, partitionValues('row', config, row));
    const number = shard - firstShard;
    const isHidden = number < 0 || number >= read;
    const shardOfWriters = firstShard + shardOfRow('row', config, row, write);
    const isAtItsPlace = strategy === 'random' ? number >= 0 && number < write : shard === shardOfWriters;
    return isAtItsPlace ? undefined : { row, shard, shardOfWriters, isHidden };
  } catch (cause) {
    const { field } = Object(cause);
    const wrong = [...partitionKey, ...clusteringColumns].find(({ name }) => field === `row.${name}`);
    throw wrong === undefined ? cause : new UnreadableRowError(config, shard, wrong, { cause });
  }
}

function segmentStatement(
  config: ShardedKeyspacesConfig,
  [first, last]: readonly [bigint, bigint],
): { query: string; parameters: unknown[] } {
  const { keyspaceName, tableName, partitionKey, shardColumn } = config;
  const columns = columnNames(config).map(quoted).join(', ');
  const key = [...partitionKey.map(({ name }) => name), shardColumn].map(quoted).join(', ');
  const from = `SELECT ${columns} FROM ${quoted(keyspaceName)}.${quoted(tableName)}`;
  const query = `${from} WHERE token(${key}) >= ${first} AND token(${key}) <= ${last}`;
  return { query, parameters: [] };
}

function checkedOptions<Report extends StrayRowsReport>(options: StrayRowsOptions<Report>) {
  if (typeof options !== 'object' || options === null) throw new InvalidArgumentError('options', options, 'an object');
  const {
    segment = 0,
    totalSegments = 1,
    rowsPerSecond,
    attempts = ATTEMPTS,
    clock = systemClock,
    signal,
    onProgress,
  } = options;
  checkWhole('totalSegments', totalSegments, 1, MAX_SEGMENTS);
  checkWhole('segment', segment, 0, totalSegments - 1);
  checkWhole('attempts', attempts, 1, Number.MAX_SAFE_INTEGER);
  checkRate('rowsPerSecond', rowsPerSecond);
  return { segment, totalSegments, rowsPerSecond, clock, signal, onProgress };
}

function checkWhole(field: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new InvalidArgumentError(field, value, `a whole number from ${least} to ${most}`);
}

/** @throws InvalidArgumentError unless the rate is absent or a number greater than 0 */
export function checkRate(field: string, rate: number | undefined): void {
  if (rate === undefined || (Number.isFinite(rate) && rate > 0)) return;
  throw new InvalidArgumentError(field, rate, 'a number of rows a second that is greater than 0, or absent');
}

/** A resume point is bound to the table, its counts, and the segment, because with other counts other rows are strays. */
function resumePoint(config: ShardedKeyspacesConfig, scan: readonly number[], page: LastPage | typeof BEGIN): string {
  return sealedText([config, scan], page);
}

function lastPage(
  config: ShardedKeyspacesConfig,
  scan: readonly number[],
  point: string | undefined,
): LastPage | typeof BEGIN {
  if (point === undefined) return BEGIN;
  const page = unsealedValue([config, scan], point, (value) => {
    if (value === BEGIN) return BEGIN;
    const { partitioner, pageState }: Partial<LastPage> = Object(value);
    return typeof partitioner === 'string' && typeof pageState === 'string' ? { partitioner, pageState } : undefined;
  });
  if (page !== undefined) return page;
  const allowed = 'the resumePoint of a report of the same table, counts, and segment';
  throw new InvalidCursorError('resumeFrom', point, allowed);
}

/** @throws InvalidCursorError if the pages before were those of another partitioner, which orders rows differently */
function resumeTrail(
  { name }: Partitioner,
  last: LastPage | typeof BEGIN,
  point: string | undefined,
): PageTrail | undefined {
  if (last === BEGIN) return undefined;
  if (last.partitioner === name) return trailTo('SELECT', last.pageState, undefined);
  const allowed = `a resumePoint of the partitioner ${name}, which the database uses now: begin the segment again`;
  throw new InvalidCursorError('resumeFrom', point, allowed);
}
