import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { checkClient } from '../../aws-client/client-check';
import { checkPositive, checkWhole } from '../../kernel/checks';
import { InvalidArgumentError } from '../../kernel/errors';
import { checkCallback } from '../../sharding/segment-walk';
import { checkShardedConfig } from '../config/check-sharded-config';
import {
  isTableConfig,
  type ShardedConfig,
  type ShardedConfigSource,
  type ShardedIndexConfig,
  type ShardedTableConfig,
} from '../config/sharded-index-config';
import { indexMover } from './index-mover';
import { walkItems } from './item-walk';
import { strayOf } from './judge';
import { JudgingConfig } from './judging-config';
import { type SegmentOptions, segmentPolicy } from './segment-options';
import type { Stray } from './stray';
import { emptyReport, type ReshardItemsReport, type StrayOutcome } from './stray-report';
import type { ItemReshardClient, ItemTransferClient } from './table-client';
import { tableMover } from './table-mover';
import { TableRequests } from './table-requests';
import { UnitBudget } from './unit-budget';

/** What to look at, how fast to write, and whom to tell. */
export interface ReshardItemsOptions extends SegmentOptions<ReshardItemsReport> {
  /**
   * The most write units to consume a second, those of the indexes included: a number greater than 0. Divide the budget of
   * the table by the number of segments that are looked at side by side.
   * @default no limit
   */
  writeUnitsPerSecond?: number;
  /**
   * How many items are written at once, at least 1.
   * @default 8
   */
  concurrency?: number;
  /**
   * Called for each stray when it is settled, with what was done, and awaited. `problem` is the message of a refusal. A stray whose
   * call throws is settled, and counted, all the same.
   * @default strays are only counted
   */
  onStray?(stray: Stray, outcome: StrayOutcome, problem?: string): void | Promise<void>;
}

/** The same for a table that is sharded by its own key. */
export interface ReshardTableItemsOptions extends ReshardItemsOptions {
  /**
   * The attribute that every write of an item changes, such as the time of the change, to a value that the item has not had. Or
   * `null`, if no update adds an attribute to an item without changing another: because writers put whole items, or because
   * their updates only change attributes that are there. A condition can compare what was read, but not see what was added.
   */
  versionAttribute: string | null;
}

/**
 * Scans a table, or a segment of it, and takes each stray to the shard that a writer would give it. Use it to adopt an
 * index on a table that has items, to drain shards before a count shrinks, for the `move` step of a table that is sharded by its own
 * key, and after `findStrays` has found something.
 *
 *     await reshardItems(new DynamoDB({}), byStatus, { readUnitsPerSecond: 200, writeUnitsPerSecond: 100 });
 *     await reshardItems(new DynamoDB({}), invoices, { versionAttribute: 'changedAt', writeUnitsPerSecond: 100 });
 *
 * For an index, it changes one attribute of an item, on the condition that the item still has the value and the shard that were
 * read. For a table that is sharded by its own key, it puts the whole item at its place and deletes it where it was, in one
 * transaction, on the condition that it is as it was read and that no item is at its place. So it overwrites no other write, creates
 * no item that was deleted, and may run beside any writer that keeps to the counts of the configuration, more than once, and in
 * several processes. An item that another writer changed meanwhile is looked at again. In a global table with eventual consistency,
 * DynamoDB checks a condition in one region only: run it in the region that takes the writes.
 *
 * Of an index whose counts grow, pass the `AdaptiveIndex`: it judges and moves by the counts of the moment. When a count was lowered,
 * it begins again, so that a report without a resume point says that every item was judged by the lower count. When it has stopped
 * and any count has changed since, its resume point is refused: begin again.
 *
 * Every write appears in the table's stream.
 *
 * @throws InvalidArgumentError, or one of its subclasses, before anything is read, if the client, the configuration or an
 *   option is invalid
 * @throws InvalidCursorError if the resume point belongs to another scan
 * @throws StrayScanError if a request fails for good or a callback throws; its report goes on from where it stopped
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
  const judging = new JudgingConfig(index);
  const config = judging.initial;
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
  const writes = new UnitBudget(writeUnitsPerSecond, policy.clock, policy.signal);
  const context = { judging, requests, writes, report };
  const move = isTableConfig(config)
    ? tableMover(client as ItemTransferClient, config, versionOf(config, options), context)
    : indexMover(client as ItemReshardClient, config, context);

  const treat = async (stray: Stray, judgedBy: ShardedConfig) => {
    const [outcome, problem] = await settle(stray, judgedBy);
    report.outcomes[outcome] += 1;
    return () => options.onStray?.(stray, outcome, problem);
  };

  /** Moves an item, and looks at it again as long as other writers come in between. */
  const settle = async (stray: Stray, judgedBy: ShardedConfig): Promise<[StrayOutcome, string?]> => {
    let [current, counts]: [Stray | undefined, ShardedConfig] = [stray, judgedBy];
    while (current !== undefined) {
      const moved = await move(current, counts);
      if (moved !== 'changed') return moved;
      const item: DynamoDbItem | undefined = await requests.get(client, current.key);
      counts = await judging.ofTheMoment();
      current = item && strayOf(counts, item);
    }
    return ['settled'];
  };

  const walk = { client, scanned, judging, policy, requests, concurrency, treat, report };
  return walkItems(walk, options.resumeFrom);
}

/** @throws InvalidArgumentError unless the option says which attribute changes with every write, or that none has to */
function versionOf({ tableKey }: ShardedTableConfig, options: Partial<ReshardTableItemsOptions>): string | null {
  const { versionAttribute } = options;
  const isName =
    typeof versionAttribute === 'string' && versionAttribute !== '' && !tableKey.includes(versionAttribute);
  if (isName || versionAttribute === null) return versionAttribute;
  const allowed =
    'the name of an attribute that every write of an item changes, or null if no update adds an attribute without changing another';
  throw new InvalidArgumentError('versionAttribute', versionAttribute, allowed);
}
