import { WrongOrderError } from '../fan-out/fan-out-errors';
import type { ShardPage, ShardRead, ShardReader } from '../fan-out/shard-reader';
import type { TotalOrder } from '../fan-out/total-order';
import { addToTrail, type PageTrail } from '../kernel/pages';
import type { CqlClient, CqlRow } from './cql-client';
import { compareKeys, type Keyed, type KeyedRow, keyedRow } from './keyed-row';
import { withMilliseconds } from './long-time';
import type { RowCursor } from './row-cursor';
import type { RowSelect } from './row-select';
import { selectRows } from './select-rows';
import { type Statement, selectStatement } from './select-statement';
import { type ShardSegment, segmentsAfter, segmentUpTo } from './shard-segment';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import type { TableShard } from './table-shard';

/** The settings that all readers of a query share. */
interface TableQuery {
  client: CqlClient;
  config: ShardedKeyspacesConfig;
  select: RowSelect;
  order: TotalOrder<Keyed>;
  cursor: RowCursor | undefined;
  /** The columns to read. */
  columns: readonly string[];
}

/**
 * The position where the next read begins. Within a segment, the read continues the same statement. Otherwise the read begins
 * at the start of the next segment.
 */
interface ReadPosition {
  segment: number;
  within?: { statement: Statement; trail: PageTrail };
  lastRow: KeyedRow | undefined;
}

/**
 * The number of rows of a response whose sizes are measured. The sizes of all other rows are estimated from the measured sizes.
 */
const SIZED_ROWS = 20;

const EMPTY_PAGE: ShardPage<KeyedRow> = { items: [], itemsRead: 0, consumedReadUnits: 0, itemSizes: [] };

/** The page size that the driver uses by default. */
const MAX_ROWS = 5_000;

/** Reads one shard of a Cassandra table, page by page, from its start or from a cursor. */
export class TableShardReader implements ShardReader<KeyedRow> {
  readonly shard: number;
  private readonly segments: ShardSegment[];

  constructor(
    private readonly query: TableQuery,
    private readonly tableShard: TableShard,
  ) {
    this.shard = tableShard.number;
    this.segments = segmentsOf(query, this.shard);
  }

  get exhausted(): boolean {
    return this.segments.length === 0;
  }

  async read({ from, limit = MAX_ROWS, until }: ShardRead<KeyedRow>): Promise<ShardPage<KeyedRow>> {
    const {
      query: { client, config, select, columns },
      tableShard,
    } = this;
    const { segment, within, lastRow }: Partial<ReadPosition> & Pick<ReadPosition, 'segment'> = (from as
      | ReadPosition
      | undefined) ?? {
      segment: 0,
    };
    const requestedPart = (number: number): ShardSegment | undefined => {
      const whole = this.segments[number];
      return whole && until ? segmentUpTo(config, select, whole, until.item.key) : whole;
    };
    const requested = requestedPart(segment);
    if (within === undefined && requested === undefined) return EMPTY_PAGE;
    const statement = within?.statement ?? selectStatement(config, tableShard, select.reversed, requested!, columns);
    const fetchSize = Math.min(MAX_ROWS, limit + (from === undefined ? this.repeatedRows : 0));
    const options = {
      prepare: true,
      consistency: select.consistency,
      isIdempotent: true,
      fetchSize,
      ...(within && { pageState: within.trail.page }),
    } as const;
    let { rows, pageState } = await selectRows(client, statement, options);
    if (rows.some((row) => this.hasTimeBeyondDates(row))) {
      ({ rows, pageState } = await selectRows(client, withMilliseconds(statement, this.timestamps), options));
    }
    const trail = pageState === undefined ? undefined : addToTrail('SELECT', pageState, within?.trail);
    const inOrder = this.inOrder(
      rows.flatMap((row) => keyedRow(config, tableShard.shard, row) ?? []),
      lastRow,
    );
    const last = inOrder.at(-1) ?? lastRow;
    const nextSegment: ReadPosition | undefined = requestedPart(segment + 1) && { segment: segment + 1, lastRow: last };
    return {
      items: inOrder.filter((row) => this.isAfterCursor(row)),
      next: trail ? ({ segment, within: { statement, trail }, lastRow: last } satisfies ReadPosition) : nextSegment,
      itemsRead: rows.length,
      consumedReadUnits: 0,
      itemSizes: rows.slice(0, SIZED_ROWS).map(rowBytes),
    };
  }

  /**
   * Checks the order of the rows of a response, and removes consecutive duplicates: a shard has only one row of each
   * key.
   *
   * @throws WrongOrderError if the rows are not in order, because the merge and the cursor would miss rows
   */
  private inOrder(rows: readonly KeyedRow[], lastRow: KeyedRow | undefined): KeyedRow[] {
    const { config, select } = this.query;
    let before = lastRow;
    return rows.filter((row) => {
      const difference = before === undefined ? -1 : compareKeys(config, select, before.key, row.key);
      if (difference > 0) throw new WrongOrderError('SELECT', this.shard);
      const isRepeated = difference === 0 && row.key.every(({ text }, column) => text === before!.key[column]!.text);
      before = row;
      return !isRepeated;
    });
  }

  /** How many rows of earlier pages the first segment returns again: 1 if it begins with the row of the cursor. */
  private get repeatedRows(): number {
    const { cursor, config } = this.query;
    return cursor?.shard === this.shard && cursor.firstOfItsKind < config.clusteringColumns.length - 1 ? 1 : 0;
  }

  private get timestamps(): string[] {
    const { clusteringColumns } = this.query.config;
    return clusteringColumns.filter(({ type }) => type === 'timestamp').map(({ name }) => name);
  }

  /**
   * Whether a row has a timestamp outside the range of `Date`. The driver returns such a timestamp as an invalid
   * `Date`.
   */
  private hasTimeBeyondDates(row: CqlRow): boolean {
    return this.timestamps.some((name) => row[name] instanceof Date && Number.isNaN(row[name].getTime()));
  }

  private isAfterCursor(row: KeyedRow): boolean {
    const { cursor, config, select, order } = this.query;
    if (cursor === undefined) return true;
    if (!select.shardByShard) return order.compare({ item: row, shard: this.shard }, cursor) > 0;
    return this.shard !== cursor.shard || compareKeys(config, select, row.key, cursor.item.key) > 0;
  }
}

function segmentsOf({ config, select, order, cursor }: TableQuery, shard: number): ShardSegment[] {
  if (cursor === undefined) return [select];
  const side = order.compare({ item: cursor.item, shard }, cursor);
  if (!select.shardByShard || side === 0) return segmentsAfter(config, select, cursor, side > 0);
  return side > 0 ? [select] : [];
}

/**
 * The metadata of a row, for which Amazon Keyspaces charges. Source: the Amazon Keyspaces developer guide, "Estimate
 * row size".
 */
const METADATA_BYTES = 100;

/**
 * The assumed size of a value that is not a text, bytes or a list. This size is usually an upper bound. Sizes only determine
 * how many rows a request reads, so an estimate is precise enough.
 */
const USUAL_BYTES = 8;

/** The approximate size of a row in Amazon Keyspaces, in bytes. */
function rowBytes(row: CqlRow): number {
  let bytes = METADATA_BYTES;
  for (const name in row) bytes += valueBytes(row[name]);
  return bytes;
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  if (Array.isArray(value)) return value.reduce((sum: number, element) => sum + valueBytes(element), 0);
  return USUAL_BYTES;
}
