import { InvalidCursorError } from '../fan-out/fan-out-errors';
import { openedText } from '../fan-out/sealed-cursor';
import { checkPositive } from '../kernel/checks';
import { type RetryPolicy, withRetries } from '../kernel/retries';
import { sealedText } from '../kernel/sealed-text';
import { UnitBudget } from '../kernel/unit-budget';
import type { SegmentOptions } from '../sharded-index';
import { type ScanPolicy, scanPolicy, scanSegment } from '../sharding/segment-scan';
import { CONSISTENCY_LEVELS, type CqlClient, type CqlRow, checkCqlClient } from './cql-client';
import { cqlFailure } from './cql-failure';
import { UnreadableRowError } from './keyspaces-errors';
import { namedConfig } from './named-parts';
import { type Partitioner, partitionerOf, tokensOfSegment } from './partitioner';
import { quoted } from './select-statement';
import { selectWholeRows, type WholeRows } from './select-whole-rows';
import { shardOfRow } from './shard-columns';
import { columnNames, requireClusteringColumns, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { checkOnce, partitionValues, shardsOfValue } from './shards-of-value';

/** A row that is not in the shard where a writer would put it. */
export interface StrayRow {
  row: CqlRow;
  /** The shard of the row: the value of its shard column. */
  shard: number;
  /** The shard where a writer would put the row, as a value of the shard column. */
  shardOfWriters: number;
  /** Whether queries miss the row, because queries do not read the shard of the row. */
  isHidden: boolean;
}

/**
 * The part of a table to scan, and the speed of the scan. `signal` ends `findStrayRows` after the current page, and
 * `reshardRows` after the current row. The next run of `reshardRows` then reads the current page again.
 */
export interface StrayRowsOptions<Report extends StrayRowsReport = StrayRowsReport>
  extends Omit<SegmentOptions<Report>, 'readUnitsPerSecond' | 'consistentRead' | 'backoffBaseMs' | 'backoffCapMs'> {
  /**
   * The maximum number of rows to read per second, greater than 0.
   * @default no limit
   */
  rowsPerSecond?: number;
}

/** The result of a scan. The sum of the reports of all segments is the result for the table. */
export interface StrayRowsReport {
  rowsScanned: number;
  strays: number;
  /** The number of strays in shards that queries do not read. */
  hidden: number;
  /**
   * The position where the scan stopped. Pass it as `resumeFrom` to continue the scan, and add the numbers of both reports.
   * Absent if the segment is complete.
   */
  resumePoint?: string;
}

/** The maximum number of rows of a page. After an interruption, the scan reads the current page again. */
const PAGE_ROWS = 1_000;

/**
 * The waits of ten attempts take 16 seconds on average, so a partition that is hot for a short time does not end a scan
 * that takes hours.
 */
const BACKOFF = { backoffBaseMs: 100, backoffCapMs: 10_000 };

/**
 * The page that a scan read most recently. A page state is valid only for one partitioner, because pages are ordered by
 * token.
 */
interface LastPage {
  partitioner: string;
  pageState: string;
}

/** The position at the beginning of a segment. This position is valid for every partitioner. */
const BEGIN = '';

/**
 * Scans a table, or a segment of a table, for strays, without changing the table. A row is a stray if it is not in the shard
 * that writers use: the shard count has changed, or another application has placed the row. `reshardRows` moves strays.
 *
 * @param options the part of the table and the speed; `onStray` is called and awaited for each stray
 * @throws InvalidArgumentError, or one of its subclasses, before a row is read, if the client, the configuration or an option
 *   is invalid
 * @throws UnknownPartitionerError if the token range of the partitioner is unknown
 * @throws UnreadableRowError if a key contains a value that does not fit its column's type
 * @throws the client's error if a request fails permanently
 */
export async function findStrayRows(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  options: StrayRowsOptions & { onStray?(stray: StrayRow): void | Promise<void> } = {},
): Promise<StrayRowsReport> {
  const report: StrayRowsReport = { rowsScanned: 0, strays: 0, hidden: 0 };
  return scanStrayRows('find', client, config, strayRowsPolicy(client, config, options), report, async (stray) =>
    options.onStray?.(stray),
  );
}

/**
 * Reads a segment page by page, and handles each stray before it reads the next page. The rows of a page are counted
 * after the whole page is handled. If a scan ends within a page, the next scan reads that page again.
 */
export async function scanStrayRows<Report extends StrayRowsReport>(
  purpose: 'find' | 'reshard',
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  policy: StrayRowsPolicy<Report>,
  report: Report,
  handle: (stray: StrayRow) => Promise<void>,
): Promise<Report> {
  const { segment, totalSegments, rowsPerSecond, clock, signal, resumeFrom } = policy;
  const scan = [purpose, segment, totalSegments];
  const last = lastPage(config, scan, resumeFrom);
  report.resumePoint = resumeFrom ?? resumePoint(config, scan, BEGIN);
  let partitioner: Partitioner | undefined;
  const budget = new UnitBudget<WholeRows>(rowsPerSecond, clock, signal, ({ rows }) => rows.length);
  const store = {
    readPage: async (pageState: string | undefined) => {
      const { response: page } = await budget.spend(async () => {
        if (partitioner === undefined) {
          partitioner = await withCqlRetries(policy, () => partitionerOf(client));
          checkPartitioner(partitioner, last, resumeFrom);
        }
        const statement = segmentStatement(config, tokensOfSegment(partitioner, segment, totalSegments));
        const options = {
          prepare: true,
          consistency: CONSISTENCY_LEVELS.LOCAL_QUORUM,
          isIdempotent: true,
          fetchSize: PAGE_ROWS,
          ...(pageState !== undefined && { pageState }),
        };
        return withCqlRetries(policy, () => selectWholeRows(client, statement, options));
      });
      return { items: page.rows, next: page.pageState };
    },
    handlePage: async (rows: readonly CqlRow[]) => {
      const read = rows.filter((row) => row[config.clusteringColumns[0]!.name] !== null);
      for (const row of read) {
        const stray = strayOf(config, row);
        if (stray === undefined) continue;
        await handle(stray);
        report.strays += 1;
        if (stray.isHidden) report.hidden += 1;
      }
      report.rowsScanned += read.length;
      return false;
    },
  };
  const resumePointAt = (pageState: string | undefined): string =>
    resumePoint(config, scan, pageState === undefined ? BEGIN : { partitioner: partitioner!.name, pageState });
  const start = last === BEGIN ? undefined : last.pageState;
  return scanSegment(store, { operation: 'SELECT', start, resumePointAt, report, policy });
}

export function withCqlRetries<T>(policy: RetryPolicy, send: (attempt: number) => Promise<T>): Promise<T> {
  return withRetries(policy, send, (error) => cqlFailure(error) === 'final');
}

/** Checks a row. Returns the stray, or undefined if the row is in the shard that writers use. */
export function strayOf(config: ShardedKeyspacesConfig, row: CqlRow): StrayRow | undefined {
  const { shardColumn, firstShard, strategy, partitionKey, clusteringColumns } = config;
  const shard: number = row[shardColumn];
  try {
    const { write, read } = shardsOfValue(config, partitionValues('row', config, row));
    const number = shard - firstShard;
    const isHidden = number < 0 || number >= read;
    const shardOfWriters = firstShard + shardOfRow(config, row, write);
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

type StrayRowsPolicy<Report extends StrayRowsReport> = StrayRowsOptions<Report> & ScanPolicy;

/** @throws InvalidArgumentError, or one of its subclasses, if the client, the configuration or an option is invalid */
export function strayRowsPolicy<Report extends StrayRowsReport>(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  options: StrayRowsOptions<Report>,
): StrayRowsPolicy<Report> {
  checkCqlClient(client);
  checkOnce(config);
  requireClusteringColumns(config);
  const policy = scanPolicy(options, BACKOFF);
  if (policy.rowsPerSecond !== undefined) checkPositive('rowsPerSecond', policy.rowsPerSecond);
  return policy;
}

/**
 * Encodes a resume point. A resume point is valid only for the same function, table, counts and segment: `findStrayRows` has not
 * moved the rows before its resume point, and with other counts, other rows are strays.
 */
function resumePoint(config: ShardedKeyspacesConfig, scan: readonly unknown[], page: LastPage | typeof BEGIN): string {
  return sealedText([namedConfig(config), scan], page);
}

function lastPage(
  config: ShardedKeyspacesConfig,
  scan: readonly unknown[],
  point: string | undefined,
): LastPage | typeof BEGIN {
  if (point === undefined) return BEGIN;
  const allowed = 'the resumePoint of a report of the same function, table, counts, and segment';
  const scope = [namedConfig(config), scan];
  return openedText<LastPage | typeof BEGIN>('resume point', 'resumeFrom', point, allowed, scope, (value) => {
    if (value === BEGIN) return BEGIN;
    const { partitioner, pageState }: Partial<LastPage> = Object(value);
    return typeof partitioner === 'string' && typeof pageState === 'string' ? { partitioner, pageState } : undefined;
  });
}

/** @throws InvalidCursorError if the resume point belongs to another partitioner, which orders rows differently */
function checkPartitioner({ name }: Partitioner, last: LastPage | typeof BEGIN, point: string | undefined): void {
  if (last === BEGIN || last.partitioner === name) return;
  const allowed = `a resumePoint of the partitioner ${name}, which the database uses now (start the segment again)`;
  throw new InvalidCursorError('resumeFrom', point, allowed);
}
