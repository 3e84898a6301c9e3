import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { checkClient } from '../../aws-client/client-check';
import { consumedUnits } from '../../aws-client/consumed-units';
import { checkPositive, checkWhole, isText } from '../../kernel/checks';
import { InvalidArgumentError } from '../../kernel/errors';
import { UnitBudget } from '../../kernel/unit-budget';
import { checkCallback } from '../../sharding/segment-scan';
import { checkShardedConfig } from '../config/check-sharded-config';
import {
  isTableConfig,
  type ShardedConfig,
  type ShardedConfigSource,
  type ShardedIndexConfig,
  type ShardedTableConfig,
} from '../config/sharded-index-config';
import { CurrentConfig } from './current-config';
import { indexMover } from './index-mover';
import { scanItems } from './item-scan';
import { type SegmentOptions, segmentPolicy } from './segment-options';
import type { Stray } from './stray';
import { strayOf } from './stray-of';
import { emptyReport, type ReshardItemsReport, type StrayOutcome } from './stray-report';
import type { ItemReshardClient, ItemTransferClient } from './table-client';
import { tableMover } from './table-mover';
import { TableRequests } from './table-requests';

/** The part of the table to scan, the speed of the writes, and a callback for each stray. */
export interface ReshardItemsOptions extends SegmentOptions<ReshardItemsReport> {
  /**
   * The maximum number of write units to consume per second, including the write units of the indexes. Greater than 0. If you
   * process several segments in parallel, divide the budget of the table by the number of these segments.
   * @default no limit
   */
  writeUnitsPerSecond?: number;
  /**
   * How many items are written in parallel, at least 1.
   * @default 8
   */
  concurrency?: number;
  /**
   * Called and awaited for each stray after it is handled, with the outcome. `problem` is the reason for the outcome
   * `refused`. If the call throws, the stray still counts in the report.
   * @default strays are only counted
   */
  onStray?(stray: Stray, outcome: StrayOutcome, problem?: string): void | Promise<void>;
}

/** Options of `reshardItems` for a table that is sharded by its own key. */
export interface ReshardTableItemsOptions extends ReshardItemsOptions {
  /**
   * The attribute that every write of an item sets to a new value, such as the time of the change. This attribute shows whether
   * another writer has added attributes to an item since `reshardItems` read the item. `null` is safe only if no update adds an
   * attribute to an item without changing another attribute. For example, writers put whole items, or updates only change
   * existing attributes.
   */
  versionAttribute: string | null;
}

/**
 * Scans a table, or a segment of a table, and moves each stray to its shard. Use it
 *
 * - to adopt an index on a table that already has items,
 * - to drain shards before a count shrinks,
 * - for the `move` step of a table that is sharded by its own key,
 * - after `findStrays` has found strays.
 *
 * Set budgets so that the move does not throttle the application:
 *
 *     await reshardItems(new DynamoDB({}), byStatus, { readUnitsPerSecond: 200, writeUnitsPerSecond: 100 });
 *     await reshardItems(new DynamoDB({}), invoices, { versionAttribute: 'changedAt', writeUnitsPerSecond: 100 });
 *
 * In an index, each move changes the shard attribute, on the condition that the item still has the value and the shard that
 * were read. In a table that is sharded by its own key, each move is a transaction that puts the whole item at its new place
 * and deletes the item at its old place. The conditions of the transaction are that the item is unchanged and that no item is
 * at the new place.
 *
 * So `reshardItems` does not overwrite other writes and does not recreate deleted items. You can run the function more than
 * once, in several processes, and while writers use the counts of the configuration. If another writer changes an item during a
 * move, `reshardItems` reads the item again. In a global table with eventual consistency, DynamoDB checks a condition in one
 * Region only: run `reshardItems` in the Region to which the application writes.
 *
 * For an index with adaptive counts, pass its `AdaptiveIndex`: `reshardItems` then uses the current counts. If a count
 * decreases, the scan starts again. So a report without a resume point confirms that every item was checked against the
 * decreased count. A resume point is valid only while no count changes. After a change, start again without a resume point.
 *
 * Every write appears in the table's stream.
 *
 * @throws InvalidArgumentError, or one of its subclasses, before anything is read, if the client, the configuration or an
 *   option is invalid
 * @throws InvalidCursorError if the resume point belongs to another scan
 * @throws StrayScanError if a request fails permanently or a callback throws; its report has a `resumePoint`
 */
export async function reshardItems(
  client: ItemReshardClient,
  index: ShardedIndexConfig | ShardedConfigSource,
  options?: ReshardItemsOptions,
): Promise<ReshardItemsReport>;
export async function reshardItems(
  client: ItemTransferClient,
  config: ShardedTableConfig,
  options: ReshardTableItemsOptions,
): Promise<ReshardItemsReport>;
export async function reshardItems(
  client: ItemReshardClient | ItemTransferClient,
  index: ShardedConfig | ShardedConfigSource,
  options: ReshardItemsOptions | ReshardTableItemsOptions = {},
): Promise<ReshardItemsReport> {
  const currentCounts = new CurrentConfig(index);
  const config = currentCounts.initial;
  checkShardedConfig(config);
  checkClient(client, ['scan', 'getItem', isTableConfig(config) ? 'transactWriteItems' : 'updateItem']);
  const policy = segmentPolicy(options);
  const { concurrency = 8, writeUnitsPerSecond } = options;
  checkWhole('concurrency', concurrency, 1);
  if (writeUnitsPerSecond !== undefined) checkPositive('writeUnitsPerSecond', writeUnitsPerSecond);
  checkCallback('onStray', options.onStray);
  const scanned = { purpose: 'reshard', segment: policy.segment, totalSegments: policy.totalSegments } as const;
  const report = { ...emptyReport(), outcomes: { moved: 0, settled: 0, refused: 0 }, consumedWriteUnits: 0 };
  const requests = new TableRequests(config, policy, report);
  const writes = new UnitBudget(writeUnitsPerSecond, policy.clock, policy.signal, consumedUnits);
  const context = { current: currentCounts, requests, writes, report };
  const move = isTableConfig(config)
    ? tableMover(client as ItemTransferClient, config, versionOf(config, options), context)
    : indexMover(client as ItemReshardClient, config, context);

  const handle = async (stray: Stray, checkedWith: ShardedConfig) => {
    const [outcome, problem] = await moveUntilUnchanged(stray, checkedWith);
    report.outcomes[outcome] += 1;
    return () => options.onStray?.(stray, outcome, problem);
  };

  /** Moves an item. If another writer changes the item, reads the item again and repeats the move. */
  const moveUntilUnchanged = async (stray: Stray, checkedWith: ShardedConfig): Promise<[StrayOutcome, string?]> => {
    let [current, counts]: [Stray | undefined, ShardedConfig] = [stray, checkedWith];
    while (current !== undefined) {
      const moved = await move(current, counts);
      if (moved !== 'changed') return moved;
      const item: DynamoDbItem | undefined = await requests.get(client, current.key);
      counts = await currentCounts.read();
      current = item && strayOf(counts, item);
    }
    return ['settled'];
  };

  const scan = { client, scanned, current: currentCounts, policy, requests, concurrency, handle, report };
  return scanItems(scan, options.resumeFrom);
}

/**
 * @throws InvalidArgumentError if `versionAttribute` is neither null nor the name of an attribute outside the table key
 */
function versionOf({ tableKey }: ShardedTableConfig, options: Partial<ReshardTableItemsOptions>): string | null {
  const { versionAttribute } = options;
  const isName = isText(versionAttribute) && !tableKey.includes(versionAttribute);
  if (isName || versionAttribute === null) return versionAttribute;
  const allowed =
    'the name of an attribute that every write changes, or null if no update adds an attribute without changing another attribute';
  throw new InvalidArgumentError('versionAttribute', versionAttribute, allowed);
}
