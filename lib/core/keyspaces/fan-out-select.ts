import type { FanOutStats } from '../fan-out/fan-out-stats';
import { ItemSizes } from '../fan-out/item-sizes';
import { byteBounds, checkPageBytes, type PageBytes } from '../fan-out/page-bytes';
import type { PageBounds } from '../fan-out/page-in-progress';
import { type FanOutReadOptions, readPolicy } from '../fan-out/read-policy';
import { type GatheredPage, gatherPage } from '../fan-out/scatter-gather';
import { compareValues } from './column-value';
import { type CqlClient, type CqlRow, checkCqlClient } from './cql-client';
import { cqlFailure } from './cql-failure';
import { driverDecimal, driverInteger } from './driver-number';
import type { FanOutSelectRequest } from './fan-out-select-request';
import { type KeyedRow, rowOrder } from './keyed-row';
import { decodeRowCursor, encodeRowCursor, type RowCursor } from './row-cursor';
import { rowSelect } from './row-select';
import { columnNames, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { checkOnce } from './shards-of-value';
import { tableShards } from './table-shard';
import { TableShardReader } from './table-shard-reader';

/** The cost of a query. Amazon Keyspaces reports the consumed read units only in CloudWatch. */
export interface FanOutSelectStats extends Omit<FanOutStats, 'itemsRead' | 'itemsHidden' | 'consumedReadUnits'> {
  /** The number of rows that were read, including rows outside the page. */
  rowsRead: number;
}

/** One page of a query over all shards. */
export interface FanOutSelectPage {
  rows: CqlRow[];
  /**
   * Pass the cursor with the same query to read the next page. Absent if this page is the last page. The next page can be
   * empty.
   */
  cursor?: string;
  /**
   * The shards that the query could not read, or could read only in part, as values of the shard column. With `values`,
   * the numbers grow by 10,000 with each value: shard 2 of the second value has the number 10,002. Absent if the query
   * read all shards. The rows of these shards are missing from this page, and the next page does not return them. To
   * get the missing rows, request this page again.
   */
  missingShards?: number[];
  stats: FanOutSelectStats;
}

/** The size of a page, and how the query reads its shards. */
export interface FanOutSelectOptions extends FanOutReadOptions {
  /**
   * The maximum size of the rows of a page as JSON in UTF-8, in bytes, at least 1. The page ends before the first row that
   * would exceed this bound. A page that is not empty always contains at least one row, even if that row is larger than the
   * bound.
   * @default no bound
   */
  maxPageBytes?: number;
}

/**
 * Reads one page of the rows of one or several values, from all shards of these values, in one order.
 *
 * Rows are ordered by their clustering columns, then by value in the order of `values`, then by shard. The next page begins
 * after the last row of this page, even if rows are written or deleted between the two requests, or the shard count changes.
 *
 * Turn off the retries of the driver (`policies.retry.FallthroughRetryPolicy`), because this function retries failed requests
 * itself. The driver cannot cancel a request, so a request runs to its end even after the deadline, or after the response to
 * its hedge.
 *
 * @throws InvalidArgumentError, or one of its subclasses, before anything is read, if the request, the options or the
 *   configuration are invalid
 * @throws InvalidCursorError if the cursor was altered or belongs to another query
 * @throws the client's error if a shard cannot be read and `onShardFailure` is `fail`
 * @throws ShardsUnavailableError if the deadline passed before the query knew the first row of the page, or if no shard could
 *   be read
 * @throws WrongOrderError if a response is not in order
 */
export async function fanOutSelect(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  request: FanOutSelectRequest,
  options: FanOutSelectOptions = {},
): Promise<FanOutSelectPage> {
  checkCqlClient(client);
  checkOnce(config);
  const select = rowSelect(config, request);
  const policy = readPolicy(options);
  checkPageBytes(options.maxPageBytes);
  const cursor = decodeRowCursor(config, select, request.cursor);
  const order = rowOrder(config, select);
  const table = `${config.keyspaceName}.${config.tableName}`;
  const sizes = options.history?.sizesOf(table, cursor?.sizes) ?? cursor?.sizes ?? new ItemSizes();
  const { projection } = request;
  const keyNames = config.clusteringColumns.map(({ name }) => name);
  const columns = projection === undefined ? columnNames(config) : [...new Set([...projection, ...keyNames])];
  const project = (row: CqlRow): CqlRow => projectedRow(row, projection ?? columns);
  const query = { client, config, select, order, cursor, columns };
  const page = await gatherPage<KeyedRow>(
    tableShards(config, select).map((shard) => new TableShardReader(query, shard)),
    { order, shardByShard: select.shardByShard, sizes, failureOf: cqlFailure },
    boundsOf(request.limit, options, project, sizes),
    policy,
  );
  const end = cursorAfter(config, page, cursor, sizes);
  return {
    rows: page.positions.map(({ item }) => project(item.row)),
    ...(end && { cursor: encodeRowCursor(config, select, end) }),
    ...(page.missingShards.length > 0 && { missingShards: page.missingShards }),
    stats: selectStats(page.stats),
  };
}

/** Converts a row to a plain object with only these columns. */
function projectedRow(row: CqlRow, columns: readonly string[]): CqlRow {
  return Object.fromEntries(columns.map((name) => [name, row[name]]));
}

function boundsOf(
  limit: number | undefined,
  { maxPageBytes, bytesOf = jsonBytes }: PageBytes<CqlRow>,
  project: (row: CqlRow) => CqlRow,
  sizes: ItemSizes,
): PageBounds<KeyedRow> {
  if (maxPageBytes === undefined) return { limit };
  return { limit, ...byteBounds(maxPageBytes, ({ row }: KeyedRow) => bytesOf(project(row)), sizes) };
}

/** The size of a row as JSON. JSON has no bigint, but the driver can be configured to return bigints. */
function jsonBytes(row: CqlRow): number {
  const entries = Object.entries(row).map(([name, value]) => [name, withoutDriverNumbers(value)]);
  const json = JSON.stringify(Object.fromEntries(entries), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return Buffer.byteLength(json);
}

/** Replaces the driver's numbers by texts, because `toString` loops forever for a large number. */
function withoutDriverNumbers(value: unknown): unknown {
  return Array.isArray(value)
    ? value.map(withoutDriverNumbers)
    : (driverInteger(value) ?? driverDecimal(value) ?? value);
}

function cursorAfter(
  config: ShardedKeyspacesConfig,
  { positions, end }: GatheredPage<KeyedRow>,
  before: RowCursor | undefined,
  sizes: ItemSizes,
): RowCursor | undefined {
  if (end === undefined) return undefined;
  const { clusteringColumns } = config;
  const previous = positions.at(-2) ?? before;
  const differing = clusteringColumns.findIndex(
    (column, index) => previous && compareValues(column, end.item.key[index]!, previous.item.key[index]!) !== 0,
  );
  return { ...end, firstOfItsKind: differing === -1 ? Math.max(0, clusteringColumns.length - 1) : differing, sizes };
}

/**
 * Converts the statistics of a page to statistics of rows. Omits the read units, because Amazon Keyspaces does not report them.
 */
export function selectStats({
  itemsRead,
  itemsHidden: _hidden,
  consumedReadUnits: _units,
  ...stats
}: FanOutStats): FanOutSelectStats {
  return { ...stats, rowsRead: itemsRead };
}
