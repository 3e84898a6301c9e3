import { systemClock } from '../foundation/clock';
import { pause } from '../foundation/pause';
import { CONSISTENCY_LEVELS, type CqlClient, type CqlRow, type StatementOptions } from './cql-client';
import { UnknownColumnError, UnreadableRowError } from './keyspaces-errors';
import { hasLostTime, LongTime } from './long-time';
import { selectRows } from './select-rows';
import { quoted } from './select-statement';
import { selectWholeRows } from './select-whole-rows';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import {
  checkRate,
  type StrayRow,
  type StrayRowsOptions,
  type StrayRowsReport,
  scanStrayRows,
  strayOf,
  untilAnswered,
} from './stray-rows';

/**
 * What a call did with a stray.
 *
 * - `moved`: the row is in the shard of its writers, and there alone.
 * - `settled`: it was gone, or a newer row was in the shard of its writers, and the stray was deleted; or an answer about its move was
 * lost, and another look has found it gone.
 * - `refused`: both rows have been written since the move began. Nobody but their writers knows which is right, so both stay.
 */
export type StrayRowOutcome = 'moved' | 'settled' | 'refused';

export interface ReshardRowsOptions extends StrayRowsOptions<ReshardRowsReport> {
  /**
   * The most strays to move a second, a number greater than 0. A move is two conditional writes.
   * @default no limit
   */
  movesPerSecond?: number;
  /**
   * Static columns, which belong to a partition and not to a row: they are left out.
   * @default every column moves with its row
   */
  staticColumns?: string[];
  /** Called for each stray when it is settled, with what was done, and awaited. */
  onStray?(stray: StrayRow, outcome: StrayRowOutcome): void | Promise<void>;
}

export interface ReshardRowsReport extends StrayRowsReport {
  outcomes: Record<StrayRowOutcome, number>;
}

/** If a row changes this often while it is moved, its writers still use another count. */
const MOST_TRIES = 10;

/** Source: the CQL binary protocol, section 3, [consistency]: LOCAL_SERIAL. */
const LOCAL_SERIAL = 0x9;

/**
 * Scans a table, or a segment of it, and takes each stray to the shard where a writer would put it: when counts have
 * changed, and when rows of another client are adopted.
 *
 *     await reshardRows(client, config, { movesPerSecond: 100 });
 *
 * A move copies the row, unless a row with its key is there already, which is newer. Then it deletes the stray if the stray
 * is still as it was read. Between these two writes a query returns both rows. A process that ends between them leaves
 * both, and the next scan deletes the stray. So no row is lost, and none is doubled when a scan has come to its end,
 * whatever readers and writers of the new counts do meanwhile. Begin when every writer uses the new counts: after a deployment, wait
 * for the longest timeout of a writer, which is 90 minutes at most on Lambda. Until the end,
 * delete a row first where former counts put it, and then where it belongs. Otherwise a stray of it would count as a row
 * and come back.
 *
 * A row begins a new time to live: that of the table, if it has one. Counters cannot be moved.
 *
 * @throws InvalidArgumentError, or one of its subclasses, before anything is read; UnreadableRowError; what the client
 *   throws
 */
export async function reshardRows(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  options: ReshardRowsOptions = {},
): Promise<ReshardRowsReport> {
  const { movesPerSecond, staticColumns = [], onStray, clock = systemClock, signal } = options;
  checkRate('movesPerSecond', movesPerSecond);
  for (const name of staticColumns) {
    if (!config.columns.includes(name))
      throw new UnknownColumnError('staticColumns', name, `made of ${config.columns.join(', ')}`);
  }
  const columns = config.columns.filter((name) => !staticColumns.includes(name));
  const mover = new RowMover(client, config, columns);
  const outcomes: ReshardRowsReport['outcomes'] = { moved: 0, settled: 0, refused: 0 };
  const report: ReshardRowsReport = { rowsScanned: 0, strays: 0, hidden: 0, outcomes };
  let nextMs = clock.now();
  return scanStrayRows(client, config, options, report, async (stray) => {
    await pause(nextMs - clock.now(), clock, signal);
    if (movesPerSecond !== undefined) nextMs = clock.now() + 1_000 / movesPerSecond;
    const outcome = await untilAnswered(options, (attempt) => mover.move(stray, attempt > 1));
    outcomes[outcome] += 1;
    await onStray?.(stray, outcome);
  });
}

class RowMover {
  private readonly key: readonly string[];
  private readonly table: string;

  constructor(
    private readonly client: CqlClient,
    private readonly config: ShardedKeyspacesConfig,
    /** The columns that a move compares and copies, in addition to the key. */
    private readonly columns: readonly string[],
  ) {
    const { keyspaceName, tableName, partitionKey, shardColumn, clusteringColumns } = config;
    this.key = [...partitionKey.map(({ name }) => name), shardColumn, ...clusteringColumns.map(({ name }) => name)];
    this.table = `${quoted(keyspaceName)}.${quoted(tableName)}`;
  }

  /** @param again whether an answer about an earlier move was lost, so that nobody knows what became of the row */
  async move(stray: StrayRow, again: boolean): Promise<StrayRowOutcome> {
    const seen = again ? await this.asItIs(stray.row) : stray;
    if (seen === undefined) return 'settled';
    let { row, shardOfWriters } = seen;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      this.refuseLostTimes(row);
      const copy = { ...row, [this.config.shardColumn]: shardOfWriters };
      const isCopied = await this.insert(copy);
      if (await this.deleteAsRead(row)) return isCopied ? 'moved' : 'settled';
      // The stray has changed, or it is gone: then its writer has deleted it, and the copy is out of date.
      if (isCopied && !(await this.deleteAsRead(copy))) return 'refused';
      const still = await this.asItIs(row);
      if (still === undefined) return 'settled';
      ({ row, shardOfWriters } = still);
    }
    return 'refused';
  }

  /** Refuses a row with a collection that holds such times, because the copy would have other times. */
  private refuseLostTimes(row: CqlRow): void {
    const lost = this.columns.find((name) => hasLostTime(row[name]));
    if (lost !== undefined) {
      const column = { name: lost, type: 'timestamp that a Date holds' };
      throw new UnreadableRowError(this.config, row[this.config.shardColumn], column);
    }
  }

  /** Inserts the row, and returns whether there was no row with its key. */
  private insert(row: CqlRow): Promise<boolean> {
    const names = [...this.key, ...this.columns.filter((name) => !isNull(row[name]))];
    const { places, parameters } = placesOf(names.map((name) => row[name]));
    const query = `INSERT INTO ${this.table} (${names.map(quoted).join(', ')}) VALUES (${places.join(', ')}) IF NOT EXISTS`;
    return this.isApplied(query, parameters);
  }

  /** Deletes the row if it is still as it was read, and returns whether it was. */
  private deleteAsRead(row: CqlRow): Promise<boolean> {
    // For Cassandra, a row that does not exist equals a row whose columns are all null.
    const compared = this.columns.some((name) => !isNull(row[name])) ? this.columns : [];
    const names = [...this.key, ...compared];
    const { places, parameters } = placesOf(names.map((name) => row[name] ?? null));
    const equal = names.map((name, index) => `${quoted(name)} = ${places[index]}`);
    const where = equal.slice(0, this.key.length).join(' AND ');
    const condition = equal.slice(this.key.length).join(' AND ') || 'EXISTS';
    return this.isApplied(`DELETE FROM ${this.table} WHERE ${where} IF ${condition}`, parameters);
  }

  /** The stray as it is now; undefined if the row is no longer a stray. */
  private async asItIs(row: CqlRow): Promise<StrayRow | undefined> {
    const names = [...this.key, ...this.columns].map(quoted).join(', ');
    const { places, parameters } = placesOf(this.key.map((name) => row[name]));
    const where = this.key.map((name, index) => `${quoted(name)} = ${places[index]}`).join(' AND ');
    const query = `SELECT ${names} FROM ${this.table} WHERE ${where}`;
    const { LOCAL_QUORUM: consistency } = CONSISTENCY_LEVELS;
    const options = { prepare: true, consistency, isIdempotent: true } as const;
    const { rows } = await selectWholeRows(this.client, { query, parameters }, options);
    return rows[0] && strayOf(this.config, rows[0]);
  }

  /** A statement whose answer was lost may have been applied. The next move or the next scan then deals with what it finds. */
  private async isApplied(query: string, parameters: unknown[]): Promise<boolean> {
    const options: StatementOptions = {
      prepare: true,
      consistency: CONSISTENCY_LEVELS.LOCAL_QUORUM,
      serialConsistency: LOCAL_SERIAL,
      isIdempotent: false,
    };
    const { rows } = await selectRows(this.client, { query, parameters }, options);
    return Object(rows[0])['[applied]'] === true;
  }
}

/** The texts that stand for values in a statement, and the parameters that the driver sends with it. */
function placesOf(values: readonly unknown[]): { places: string[]; parameters: unknown[] } {
  return {
    places: values.map((value) => (value instanceof LongTime ? value.literal : '?')),
    parameters: values.filter((value) => !(value instanceof LongTime)),
  };
}

function isNull(value: unknown): boolean {
  return value === null || value === undefined;
}
