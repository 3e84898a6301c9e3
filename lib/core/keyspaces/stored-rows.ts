import { CONSISTENCY_LEVELS, type CqlClient, type CqlRow } from './cql-client';
import { isRejection } from './cql-failure';
import { placeholdersOf } from './long-time';
import { incompleteRows } from './select-rows';
import { quoted } from './select-statement';
import { selectWholeRows } from './select-whole-rows';

export interface StoredRow {
  row: CqlRow;
  /** The write times of the values, in microseconds since 1970. A collection has the write times of its elements. */
  writtenAt: ReadonlyMap<string, readonly bigint[]>;
  /** Whether a value has a timestamp ahead of the server's clock. A delete would not remove such a value. */
  isAhead: boolean;
}

const SERVER_TIME = 'server_time';

/**
 * Reads single rows with the write times of their values.
 *
 * Amazon Keyspaces returns write times in tables with client-side timestamps. Apache Cassandra before 5.0 does not return write
 * times of collections. If the database rejects a read of all write times, the reader finds out for each column whether the
 * column has write times.
 */
export class StoredRows {
  private timed: readonly string[] | undefined;

  constructor(
    private readonly client: CqlClient,
    /** The quoted names of the keyspace and the table. */
    private readonly table: string,
    private readonly key: readonly string[],
    private readonly columns: readonly string[],
  ) {}

  async haveWriteTimes(row: CqlRow): Promise<boolean> {
    this.timed ??= await this.timedColumns(row);
    return this.timed.length > 0;
  }

  /** Reads the row with this key. Undefined if the row does not exist. */
  async read(row: CqlRow): Promise<StoredRow | undefined> {
    this.timed ??= await this.timedColumns(row);
    return this.select(row, this.columns, this.timed);
  }

  private async timedColumns(row: CqlRow): Promise<readonly string[]> {
    if (this.columns.length === 0 || (await this.returnsWriteTimes(row, this.columns))) return this.columns;
    const timed: string[] = [];
    for (const name of this.columns) {
      if (await this.returnsWriteTimes(row, [name])) timed.push(name);
    }
    return timed;
  }

  private async returnsWriteTimes(row: CqlRow, timed: readonly string[]): Promise<boolean> {
    try {
      await this.select(row, [], timed);
      return true;
    } catch (error) {
      if (isRejection(error)) return false;
      throw error;
    }
  }

  private async select(
    row: CqlRow,
    columns: readonly string[],
    timed: readonly string[],
  ): Promise<StoredRow | undefined> {
    const times = timed.map((name, index) => `WRITETIME(${quoted(name)}) AS ${timeName(index)}`);
    const clock = timed.length === 0 ? [] : [`toUnixTimestamp(now()) AS ${SERVER_TIME}`];
    const names = [...[...this.key, ...columns].map(quoted), ...times, ...clock].join(', ');
    const { where, parameters } = whereKey(this.key, row);
    const query = `SELECT ${names} FROM ${this.table} WHERE ${where}`;
    const options = { prepare: true, consistency: CONSISTENCY_LEVELS.LOCAL_QUORUM, isIdempotent: true };
    const { rows } = await selectWholeRows(this.client, { query, parameters }, options);
    return rows[0] && storedRow(rows[0], timed);
  }
}

/** The WHERE condition that selects one row, and its parameters. */
export function whereKey(key: readonly string[], row: CqlRow): { where: string; parameters: unknown[] } {
  const { placeholders, parameters } = placeholdersOf(key.map((name) => row[name]));
  return { where: key.map((name, index) => `${quoted(name)} = ${placeholders[index]}`).join(' AND '), parameters };
}

function storedRow(returned: CqlRow, timed: readonly string[]): StoredRow {
  const row: CqlRow = { ...returned };
  const writtenAt = new Map<string, bigint[]>();
  for (const [index, name] of timed.entries()) {
    const times: unknown = returned[timeName(index)];
    delete row[timeName(index)];
    if (times !== null) writtenAt.set(name, [times].flat().map(wholeNumber));
  }
  // The server returns its clock in whole milliseconds, so add one millisecond.
  const serverTime = timed.length === 0 ? 0n : (wholeNumber(returned[SERVER_TIME]) + 1n) * 1_000n;
  delete row[SERVER_TIME];
  return { row, writtenAt, isAhead: [...writtenAt.values()].flat().some((time) => time > serverTime) };
}

function timeName(index: number): string {
  return `written_${index}`;
}

/** Converts a `bigint` of CQL, which the driver returns as a `Long` or, depending on its options, as a bigint. */
function wholeNumber(value: unknown): bigint {
  const text = String(value);
  if (!/^-?\d+$/.test(text)) throw incompleteRows();
  return BigInt(text);
}
