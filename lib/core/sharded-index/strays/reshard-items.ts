import type { DynamoDbItem } from '../../foundation/attribute-value';
import { checkClient } from '../client-check';
import type { ShardedIndexConfig } from '../sharded-index-config';
import { itemMove } from './item-move';
import { checkGoingOn } from './pause';
import { checkUnitsPerSecond, checkWholeNumber, type SegmentOptions, segmentPolicy } from './segment-options';
import { decodePoint } from './segment-point';
import { walkSegment } from './segment-walk';
import { type Stray, strayOf } from './stray';
import { checkStrayConfig } from './stray-config';
import { emptyReport, type StrayReport } from './stray-report';
import type { ItemReshardClient } from './table-client';
import { TableRequests } from './table-requests';
import { UnitBudget } from './unit-budget';

/**
 * What a call has done with a stray.
 *
 * - `moved`: a request of this call gave the item its shard, or took a left-over shard off it.
 * - `settled`: the item was found in its shard, or gone, when a request had failed. Another writer did that, or an earlier
 *   request whose answer was lost.
 * - `refused`: the item is as it was. Its value has no place in the index, or DynamoDB refused the item.
 */
export type StrayOutcome = 'moved' | 'settled' | 'refused';

/** What `reshardItems` has found and done so far. */
export interface ReshardItemsReport extends StrayReport {
  /** How many strays ended how. The three numbers add up to that of all strays. */
  outcomes: Record<StrayOutcome, number>;
  /** The write units, those of the indexes included, that DynamoDB reported for the requests that were answered. */
  consumedWriteUnits: number;
}

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
   * Called for each stray when it is settled, with what was done, and awaited. `problem` is the message of a refusal.
   * @default strays are only counted
   */
  onStray?(stray: Stray, outcome: StrayOutcome, problem?: string): void | Promise<void>;
}

/**
 * Scans a table, or a segment of it, and gives each stray the shard attribute that a writer would give it. Use it to adopt an
 * index on a table that has items, to drain shards before a count shrinks, and after `findStrays` has found something.
 *
 *     await reshardItems(new DynamoDB({}), byStatus, { readUnitsPerSecond: 200, writeUnitsPerSecond: 100 });
 *
 * It changes one attribute of an item, on the condition that the item still has the value and the shard that were read. So it
 * overwrites no other write, creates no item that was deleted, and may run beside any writer, more than once, and in several
 * processes. An item that another writer changed meanwhile is looked at again. In a global table with eventual consistency,
 * DynamoDB checks a condition in one region only: run it in the region that takes the writes.
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
  config: ShardedIndexConfig,
  options: ReshardItemsOptions = {},
): Promise<ReshardItemsReport> {
  checkClient(client, ['scan', 'getItem', 'updateItem']);
  checkStrayConfig(config);
  const policy = segmentPolicy(options);
  const { concurrency = 8, writeUnitsPerSecond } = options;
  checkWholeNumber('concurrency', concurrency, 1);
  checkUnitsPerSecond('writeUnitsPerSecond', writeUnitsPerSecond);
  const scanned = { purpose: 'reshard', config, segment: policy.segment, totalSegments: policy.totalSegments } as const;
  const startKey = decodePoint(scanned, options.resumeFrom);
  const report = { ...emptyReport(), outcomes: { moved: 0, settled: 0, refused: 0 }, consumedWriteUnits: 0 };
  const requests = new TableRequests(config, policy, report);
  const writes = new UnitBudget(writeUnitsPerSecond, policy.clock, policy.signal);

  const treat = async (stray: Stray): Promise<void> => {
    const [outcome, problem] = await settle(stray);
    await options.onStray?.(stray, outcome, problem);
    report.outcomes[outcome] += 1;
  };

  /** Moves an item, and looks at it again as long as other writers come in between. */
  const settle = async (stray: Stray): Promise<[StrayOutcome, string?]> => {
    let current: Stray | undefined = stray;
    while (current !== undefined) {
      if (current.reason === 'invalidValue') return ['refused', 'the value is neither a non-empty string nor a number'];
      try {
        await move(current);
        return ['moved'];
      } catch (error) {
        const { name, message } = error as Error;
        if (name === 'ValidationException') return ['refused', message];
        if (name !== 'ConditionalCheckFailedException') throw error;
      }
      checkGoingOn(policy.signal);
      const item: DynamoDbItem | undefined = await requests.get(client, current.key);
      current = item && strayOf(config, item);
    }
    return ['settled'];
  };

  const move = (stray: Stray): Promise<void> =>
    requests.persist(async () => {
      const { ConsumedCapacity } = await writes.spend(() => client.updateItem(itemMove(config, stray)));
      report.consumedWriteUnits += ConsumedCapacity?.CapacityUnits ?? 0;
    });

  return walkSegment({ client, scanned, policy, requests, startKey, concurrency, treat, report });
}
