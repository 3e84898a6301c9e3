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
import { type ShardSegment, segmentsBehind, segmentUpTo } from './shard-segment';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import type { TableShard } from './table-shard';

/** What the readers of one query have in common. */
interface TableQuery {
  client: CqlClient;
  config: ShardedKeyspacesConfig;
  select: RowSelect;
  order: TotalOrder<Keyed>;
  cursor: RowCursor | undefined;
  /** The columns to ask for. */
  columns: readonly string[];
}

/** Where a read ended: within a segment, which goes on with the same statement, or before another segment. */
interface ReadOn {
  segment: number;
  within?: { statement: Statement; trail: PageTrail };
  /** The last row of the shard that was read. */
  lastRow: KeyedRow | undefined;
}

/** The sizes of this many rows of an answer are enough to estimate the rest. */
const SIZED_ROWS = 20;

/** The page of a segment that begins after everything that is wanted. */
const NOTHING: ShardPage<KeyedRow> = { items: [], itemsRead: 0, consumedReadUnits: 0, itemSizes: [] };

/** The page size that the driver uses by default. */
const MOST_ROWS = 5_000;

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

  async read({ from, limit = MOST_ROWS, until }: ShardRead<KeyedRow>): Promise<ShardPage<KeyedRow>> {
    const {
      query: { client, config, select, columns },
      tableShard,
    } = this;
    const { segment, within, lastRow }: Partial<ReadOn> & Pick<ReadOn, 'segment'> = (from as ReadOn | undefined) ?? {
      segment: 0,
    };
    const wantedOf = (number: number): ShardSegment | undefined => {
      const whole = this.segments[number];
      return whole && until ? segmentUpTo(config, select, whole, until.item.key) : whole;
    };
    const wanted = wantedOf(segment);
    if (within === undefined && wanted === undefined) return NOTHING;
    const statement = within?.statement ?? selectStatement(config, tableShard, select.reversed, wanted!, columns);
    const fetchSize = Math.min(MOST_ROWS, limit + (from === undefined ? this.repeatedRows : 0));
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
    const inFront: ReadOn | undefined = wantedOf(segment + 1) && { segment: segment + 1, lastRow: last };
    return {
      items: inOrder.filter((row) => this.isBehindCursor(row)),
      next: trail ? ({ segment, within: { statement, trail }, lastRow: last } satisfies ReadOn) : inFront,
      itemsRead: rows.length,
      consumedReadUnits: 0,
      itemSizes: rows.slice(0, SIZED_ROWS).map(rowBytes),
    };
  }

  /**
   * The rows of a response. A shard has one row of each key, so a row that comes again right behind itself is left out.
   *
   * @throws WrongOrderError unless each row comes behind the row before it: the merge and the cursor would miss rows
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

  /** The number of rows that the first segment repeats: the row of the cursor, if the segment begins with it. */
  private get repeatedRows(): number {
    const { cursor, config } = this.query;
    return cursor?.shard === this.shard && cursor.firstOfItsKind < config.clusteringColumns.length - 1 ? 1 : 0;
  }

  private get timestamps(): string[] {
    const { clusteringColumns } = this.query.config;
    return clusteringColumns.filter(({ type }) => type === 'timestamp').map(({ name }) => name);
  }

  /** The driver returns such a time as an invalid `Date`, which does not tell the time. */
  private hasTimeBeyondDates(row: CqlRow): boolean {
    return this.timestamps.some((name) => row[name] instanceof Date && Number.isNaN(row[name].getTime()));
  }

  private isBehindCursor(row: KeyedRow): boolean {
    const { cursor, config, select, order } = this.query;
    if (cursor === undefined) return true;
    if (!select.shardByShard) return order.compare({ item: row, shard: this.shard }, cursor) > 0;
    return this.shard !== cursor.shard || compareKeys(config, select, row.key, cursor.item.key) > 0;
  }
}

/** The rest of a shard: what comes after the cursor, the whole shard, or nothing. */
function segmentsOf({ config, select, order, cursor }: TableQuery, shard: number): ShardSegment[] {
  if (cursor === undefined) return [select];
  const side = order.compare({ item: cursor.item, shard }, cursor);
  if (!select.shardByShard || side === 0) return segmentsBehind(config, select, cursor, side > 0);
  return side > 0 ? [select] : [];
}

/** Source: the Amazon Keyspaces developer guide, "Estimate row size": each row is charged for this much metadata. */
const METADATA_BYTES = 100;

/** Values of most types take this or less. It is precise enough, because sizes only decide how much is read at once. */
const USUAL_BYTES = 8;

/** About how many bytes a row takes in Amazon Keyspaces. */
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
