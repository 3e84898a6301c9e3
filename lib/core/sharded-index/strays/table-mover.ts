import type { ReadFailure } from '../../fan-out/shard-reader';
import { queryFailure } from '../client/query-failure';
import type { ShardedTableConfig } from '../config/sharded-index-config';
import { DELETE, itemTransfer } from './item-transfer';
import type { Mover, MoverContext } from './mover';
import type { StrayReason } from './stray';
import { strayOf } from './stray-of';
import type { ItemTransferClient } from './table-client';

/**
 * The problems that prevent a move, by reason. With each of these problems, the key does not determine the place of the
 * item.
 */
const PROBLEMS: Partial<Record<StrayReason, string>> = {
  malformed: 'the partition key is not a value, a separator and a shard',
  otherValue: 'the partition key contains another value than the item',
  invalidValue: 'an attribute that decides the shard is missing or cannot be a key',
};

/** How many random shards to try if other items have the same sort key as the item. */
const RANDOM_TRIES = 10;

/** Moves items of a table that is sharded by its own key to their places, with one transaction per item. */
export function tableMover(
  client: ItemTransferClient,
  config: ShardedTableConfig,
  versionAttribute: string | null,
  { requests, writes, report }: MoverContext,
): Mover {
  return async ({ key }) => {
    for (let attempt = 1; ; attempt++) {
      const item = await requests.getWhole(client, key);
      const stray = item && strayOf(config, item);
      if (item === undefined || stray === undefined) return ['settled'];
      const problem = PROBLEMS[stray.reason];
      if (problem !== undefined) return ['refused', problem];
      const transfer = itemTransfer(config, item, stray, versionAttribute);
      if (transfer === undefined)
        return ['refused', 'the item has too many attributes to compare: set versionAttribute'];
      try {
        await requests.retry(async () => {
          const { units } = await writes.spend(() => client.transactWriteItems(transfer));
          report.consumedWriteUnits += units;
        }, transferFailure);
        return ['moved'];
      } catch (error) {
        const codes = cancellationCodes(error);
        if (codes === undefined) {
          if ((error as Error).name === 'ValidationException') return ['refused', (error as Error).message];
          throw error;
        }
        if (codes[DELETE] === CONDITION_FAILED) return 'changed';
        if (!codes.includes(CONDITION_FAILED)) return ['refused', (error as Error).message];
      }
      if (config.strategy === 'calculated' || attempt === RANDOM_TRIES)
        return ['refused', 'an item already exists at one of its places'];
    }
  };
}

const CONDITION_FAILED = 'ConditionalCheckFailed';

/** Transient cancellation reasons. Source: the DynamoDB API reference, TransactWriteItems. */
const TRANSIENT = new Set(['TransactionConflict', 'ProvisionedThroughputExceeded', 'ThrottlingError']);

function transferFailure(error: unknown): ReadFailure {
  const codes = cancellationCodes(error);
  if (codes === undefined)
    return Object(error).name === 'TransactionInProgressException' ? 'transient' : queryFailure(error);
  return codes[DELETE] !== CONDITION_FAILED && codes.some((code) => TRANSIENT.has(code)) ? 'throttled' : 'final';
}

/** The reason of the cancellation for each write of a transaction. Undefined for any other error. */
function cancellationCodes(error: unknown): string[] | undefined {
  const { name, CancellationReasons }: { name?: string; CancellationReasons?: { Code?: string }[] } = Object(error);
  if (name !== 'TransactionCanceledException' || !Array.isArray(CancellationReasons)) return undefined;
  return CancellationReasons.map(({ Code = 'None' }) => Code);
}
