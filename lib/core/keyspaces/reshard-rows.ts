import { checkPositive } from '../kernel/checks';
import { pause } from '../kernel/pause';
import type { CqlClient } from './cql-client';
import { UnknownColumnError } from './keyspaces-errors';
import { RowMover, type StrayRowOutcome } from './row-mover';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import {
  type StrayRow,
  type StrayRowsOptions,
  type StrayRowsReport,
  scanStrayRows,
  strayRowsPolicy,
  untilAnswered,
} from './stray-rows';

export interface ReshardRowsOptions extends StrayRowsOptions<ReshardRowsReport> {
  /**
   * The most strays to move a second, a number greater than 0. A move is two conditional writes, and up to three
   * reads where the database tells write times.
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
  /**
   * How many of the moved and settled rows had a value without a write time, or no value outside the key. Such a row is moved
   * without a check for timestamps that the server's clock has not reached.
   */
  unverified: number;
}

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
 * A write with a timestamp of the client can be ahead of the server's clock, and then a later delete has no effect on it. Where
 * the database tells write times, a row with such a value is refused, and a row whose copy such a delete hides. Both stay where
 * they are, and a later run moves them. Amazon Keyspaces has write times in tables with client-side timestamps. Rows without
 * write times are moved, and counted as `unverified`.
 *
 * A row begins a new time to live: that of the table, if it has one. Counters cannot be moved.
 *
 * @throws InvalidArgumentError, or one of its subclasses, before a row is read; UnknownPartitionerError; UnreadableRowError;
 *   what the client throws
 */
export async function reshardRows(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  options: ReshardRowsOptions = {},
): Promise<ReshardRowsReport> {
  const policy = strayRowsPolicy(client, config, options);
  const { movesPerSecond, staticColumns = [], onStray } = options;
  const { clock, signal } = policy;
  if (movesPerSecond !== undefined) checkPositive('movesPerSecond', movesPerSecond);
  for (const name of staticColumns) {
    if (!config.columns.includes(name))
      throw new UnknownColumnError('staticColumns', name, `made of ${config.columns.join(', ')}`);
  }
  const columns = config.columns.filter((name) => !staticColumns.includes(name));
  const mover = new RowMover(client, config, columns);
  const outcomes: ReshardRowsReport['outcomes'] = { moved: 0, settled: 0, refused: 0 };
  const report: ReshardRowsReport = { rowsScanned: 0, strays: 0, hidden: 0, outcomes, unverified: 0 };
  let nextMs = clock.now();
  return scanStrayRows(client, config, policy, report, async (stray) => {
    await pause(nextMs - clock.now(), clock, signal);
    if (movesPerSecond !== undefined) nextMs = clock.now() + 1_000 / movesPerSecond;
    const { outcome, isVerified } = await untilAnswered(policy, (attempt) => mover.move(stray, attempt > 1));
    outcomes[outcome] += 1;
    if (outcome !== 'refused' && !isVerified) report.unverified += 1;
    await onStray?.(stray, outcome);
  });
}
