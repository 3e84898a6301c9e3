import { isConditionFailure } from '../../aws-client/expression';
import { isSameSharding } from '../change/shard-count-change';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import { isRejection, itemMove, removalOfShard } from './item-move';
import type { Mover, MoverContext } from './mover';
import type { ItemMoveInput, ItemReshardClient } from './table-client';

/**
 * Writes the shard attribute of each item of an index, with one conditional update per item. If the value of the item cannot be in
 * the index, a conditional update removes the shard of an earlier value.
 */
export function indexMover(
  client: ItemReshardClient,
  config: ShardedIndexConfig,
  { current, requests, writes, report }: MoverContext,
): Mover {
  return async (stray, checkedWith) => {
    // The shard attribute is right. Only the application can write the missing sort key.
    if (stray.reason === 'noSortKey' && stray.expected === undefined) return ['settled'];
    const send = async (move: ItemMoveInput): ReturnType<Mover> => {
      const update = async () => {
        // The counts may have changed during the wait for the budget or for another attempt.
        const now = await current.read();
        if (!isSameSharding(now.shards, checkedWith.shards)) throw new CountsChanged();
        return client.updateItem(move);
      };
      try {
        await requests.retry(async () => {
          const { units } = await writes.spend(update);
          report.consumedWriteUnits += units;
        });
        return ['moved'];
      } catch (error) {
        if (error instanceof CountsChanged || isConditionFailure(error)) return 'changed';
        if (isRejection(error)) return ['refused', (error as Error).message];
        throw error;
      }
    };
    const strays = [{ config, stray }];
    const moved: Awaited<ReturnType<Mover>> =
      stray.reason === 'invalidValue'
        ? ['refused', 'the value is not a non-empty string or a number']
        : await send(itemMove(strays));
    const removal = moved[0] === 'refused' ? removalOfShard(strays) : undefined;
    const removed = removal && (await send(removal));
    return removed === 'changed' ? removed : moved;
  };
}

class CountsChanged extends Error {}
