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

/** What a query cost. Only CloudWatch tells how many read units Amazon Keyspaces has charged for it. */
export interface FanOutSelectStats extends Omit<FanOutStats, 'itemsRead' | 'itemsHidden' | 'consumedReadUnits'> {
  /** Rows that were read, whether they are in the page or not. */
  rowsRead: number;
}

/** One page of the answer over all shards. */
export interface FanOutSelectPage {
  rows: CqlRow[];
  /** Give it to the same query for the next page, which may turn out empty. Absent when nothing can follow. */
  cursor?: string;
  /**
   * Shards that could not be read, or only in part, as the shard column holds them. Absent if all were read. With `values`,
   * the shards of the n-th value, counted from 0, have n times 10,000 added. Their rows are missing from this page, and the
   * cursor goes on after this page's last row. To get them, ask for this page again.
   */
  missingShards?: number[];
  stats: FanOutSelectStats;
}

/** How shards are asked, and how large a page may be for the answer that carries it. */
export interface FanOutSelectOptions extends FanOutReadOptions {
  /**
   * Ends the page before its rows take more than this many bytes as JSON in UTF-8, at least 1. A page holds one row at
   * least.
   * @default no bound
   */
  maxPageBytes?: number;
}

/**
 * Reads one page of a value, or of several, from all its shards, in one order.
 *
 * The rows come by clustering columns, then by value, in the order of `values`, and by shard. The cursor of the page goes
 * on after its last row, whatever was written or deleted since, and however the shard count has changed.
 *
 * Keep the driver from retrying by itself (`policies.retry.FallthroughRetryPolicy`), or its attempts and the engine's
 * multiply. The driver cannot cancel a request. A request that is given up at a deadline or because of a hedge still runs
 * to its end.
 *
 * @throws a typed error before anything is read if the request, the options or the configuration are invalid; what the
 *   client throws if a shard cannot be read; WrongOrderError if a response is not in order; ShardsUnavailableError if the deadline came before the first rows were certain
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
  const end = cursorBehind(config, page, cursor, sizes);
  return {
    rows: page.positions.map(({ item }) => project(item.row)),
    ...(end && { cursor: encodeRowCursor(config, select, end) }),
    ...(page.missingShards.length > 0 && { missingShards: page.missingShards }),
    stats: selectStats(page.stats),
  };
}

/** The rows as plain objects, without the columns that were read only to order them. */
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

/** JSON has no bigint, and the driver can be configured to return it. */
function jsonBytes(row: CqlRow): number {
  const written = Object.entries(row).map(([name, value]) => [name, withoutDriverNumbers(value)]);
  const json = JSON.stringify(Object.fromEntries(written), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return Buffer.byteLength(json);
}

/** Replaces the driver's numbers by texts, because large ones would write themselves for ever. */
function withoutDriverNumbers(value: unknown): unknown {
  return Array.isArray(value)
    ? value.map(withoutDriverNumbers)
    : (driverInteger(value) ?? driverDecimal(value) ?? value);
}

function cursorBehind(
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
  return { ...end, firstOfItsKind: differing === -1 ? clusteringColumns.length - 1 : differing, sizes };
}

/** The cost of reading rows, without read units, which Amazon Keyspaces does not report. */
export function selectStats({
  itemsRead,
  itemsHidden: _hidden,
  consumedReadUnits: _units,
  ...stats
}: FanOutStats): FanOutSelectStats {
  return { ...stats, rowsRead: itemsRead };
}
