import { checkPositive } from '../kernel/checks';
import { UnitBudget } from '../kernel/unit-budget';
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
  withCqlRetries,
} from './stray-rows';

export interface ReshardRowsOptions extends StrayRowsOptions<ReshardRowsReport> {
  /**
   * The maximum number of strays to move per second, greater than 0. A move is two conditional writes. If the database
   * returns write times, a move also needs up to three reads.
   * @default no limit
   */
  movesPerSecond?: number;
  /**
   * The static columns of the table. A static column belongs to a partition instead of a row, so it is not moved.
   * @default every column moves with its row
   */
  staticColumns?: string[];
  /** Called and awaited for each stray after it is handled, with the outcome. */
  onStray?(stray: StrayRow, outcome: StrayRowOutcome): void | Promise<void>;
}

export interface ReshardRowsReport extends StrayRowsReport {
  outcomes: Record<StrayRowOutcome, number>;
  /**
   * The number of moved and settled rows that had a value without a write time, or no value outside the key.
   * `reshardRows` cannot check the timestamps of such a row.
   */
  unverified: number;
}

/**
 * Scans a table, or a segment of a table, and moves each stray to the shard where a writer would put it. Use this function
 * after a count has changed, and to adopt rows of another application.
 *
 *     await reshardRows(client, config, { movesPerSecond: 100 });
 *
 * A move has two writes. The first write copies the row, unless the target shard already has a newer row with the same key. The
 * second write deletes the stray if the stray is unchanged since it was read. Between the two writes a query returns both rows.
 * If the process ends between the two writes, both rows stay, and the next scan deletes the stray. So no row is lost, and no
 * row is duplicated after a complete scan, even while readers and writers use the new counts.
 *
 * Start only after every writer uses the new counts. After a deployment, wait for the longest timeout of a writer, which is at
 * most 90 minutes on Lambda. Until the scan is complete, delete a row first in the shards of former counts, and then in its
 * current shard. Otherwise a move could bring the deleted row back.
 *
 * A client-side timestamp can be ahead of the server's clock. A later delete then does not remove the value. If the database
 * returns write times, `reshardRows` refuses a row with such a timestamp. `reshardRows` also refuses a row if a delete with
 * such a timestamp would hide the copy. Refused rows stay in place, and a later run moves them. Amazon Keyspaces returns write
 * times in tables with client-side timestamps. Rows without write times are moved, and counted as `unverified`.
 *
 * A moved row gets the default time to live of the table, if the table has one. Counters cannot be moved.
 *
 * @throws InvalidArgumentError, or one of its subclasses, before a row is read, if the client, the configuration or an option
 *   is invalid
 * @throws UnknownPartitionerError if the token range of the partitioner is unknown
 * @throws UnreadableRowError if a key contains a value that does not fit its column's type
 * @throws the client's error if a request fails permanently
 */
export async function reshardRows(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  options: ReshardRowsOptions = {},
): Promise<ReshardRowsReport> {
  const policy = strayRowsPolicy(client, config, options);
  const { movesPerSecond, staticColumns = [], onStray } = options;
  if (movesPerSecond !== undefined) checkPositive('movesPerSecond', movesPerSecond);
  for (const name of staticColumns) {
    if (!config.columns.includes(name))
      throw new UnknownColumnError('staticColumns', name, `made of ${config.columns.join(', ')}`);
  }
  const columns = config.columns.filter((name) => !staticColumns.includes(name));
  const mover = new RowMover(client, config, columns);
  const outcomes: ReshardRowsReport['outcomes'] = { moved: 0, settled: 0, refused: 0 };
  const report: ReshardRowsReport = { rowsScanned: 0, strays: 0, hidden: 0, outcomes, unverified: 0 };
  const budget = new UnitBudget(movesPerSecond, policy.clock, policy.signal, () => 1);
  return scanStrayRows('reshard', client, config, policy, report, async (stray) => {
    const move = () => withCqlRetries(policy, (attempt) => mover.move(stray, attempt > 1));
    const { outcome, isVerified } = (await budget.spend(move)).response;
    outcomes[outcome] += 1;
    if (outcome !== 'refused' && !isVerified) report.unverified += 1;
    await onStray?.(stray, outcome);
  });
}
