import { isSameSharding } from '../change/shard-count-change';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import { itemMove } from './item-move';
import type { Mover, MoverContext } from './mover';
import type { ItemReshardClient } from './table-client';

/** Gives items the shard attribute of an index, each by one conditional update. */
export function indexMover(
  client: ItemReshardClient,
  config: ShardedIndexConfig,
  { judging, requests, writes, report }: MoverContext,
): Mover {
  return async (stray, judgedBy) => {
    if (stray.reason === 'invalidValue') return ['refused', 'the value is neither a non-empty string nor a number'];
    const update = async () => {
      // The wait for the budget, or for another attempt, may have been long.
      const now = await judging.ofTheMoment();
      if (now !== judgedBy && !isSameSharding(now.shards, judgedBy.shards)) throw new JudgedByOtherCounts();
      return client.updateItem(itemMove(config, stray));
    };
    try {
      await requests.persist(async () => {
        const { units } = await writes.spend(update);
        report.consumedWriteUnits += units;
      });
      return ['moved'];
    } catch (error) {
      const { name, message } = error as Error;
      if (error instanceof JudgedByOtherCounts || name === 'ConditionalCheckFailedException') return 'changed';
      if (name === 'ValidationException') return ['refused', message];
      throw error;
    }
  };
}

class JudgedByOtherCounts extends Error {}
