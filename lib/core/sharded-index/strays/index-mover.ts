import type { ShardedIndexConfig } from '../sharded-index-config';
import { itemMove } from './item-move';
import type { Mover, MoverContext } from './mover';
import type { ItemReshardClient } from './table-client';

/** Gives items the shard attribute of an index, each by one conditional update. */
export function indexMover(
  client: ItemReshardClient,
  config: ShardedIndexConfig,
  { requests, writes, report }: MoverContext,
): Mover {
  return async (stray) => {
    if (stray.reason === 'invalidValue') return ['refused', 'the value is neither a non-empty string nor a number'];
    try {
      await requests.persist(async () => {
        const { ConsumedCapacity } = await writes.spend(() => client.updateItem(itemMove(config, stray)));
        report.consumedWriteUnits += ConsumedCapacity?.CapacityUnits ?? 0;
      });
      return ['moved'];
    } catch (error) {
      const { name, message } = error as Error;
      if (name === 'ValidationException') return ['refused', message];
      if (name === 'ConditionalCheckFailedException') return 'changed';
      throw error;
    }
  };
}
