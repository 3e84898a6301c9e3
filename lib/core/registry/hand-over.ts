import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from '../foundation/errors';
import { type Fence, fenceData } from '../foundation/fence';
import { checkHashKey } from '../foundation/hash-key-space';
import type { OrderedProducer } from '../producer';

export interface HandOver {
  /** The owner's partition keys: at least one. */
  partitionKeys: readonly string[];
  fromHashKey: bigint;
  toHashKey: bigint;
}

/**
 * Moves an owner's records to another hash key, and thereby to another shard, such that a consumer can keep their order.
 *
 * It waits until everything put so far has its receipt, writes a fence as the last record with the old hash key, then one
 * as the first with the new, and then switches: `switchKey` makes the move known, usually by the registry's action `move`.
 * Each step waits for the one before. Put no record of these partition keys until it is done, then put them with the new
 * hash key; no other producer may put any of them meanwhile. Consumers read through a `FenceGate`.
 *
 * If it fails, or the process ends, before the switch, the owner goes on with the old key, and the move can be made again:
 * whatever was written with the old key in between is in front of the next attempt's fence.
 *
 * @param switchKey may be called again for a move that it has made already
 * @throws InvalidArgumentError or InvalidHashKeyError if an argument is malformed, before anything is written
 * @throws what the producer rejects a fence with, or what `switchKey` throws
 */
export async function handOver(
  producer: Pick<OrderedProducer, 'put' | 'flush'>,
  { partitionKeys, fromHashKey, toHashKey }: HandOver,
  switchKey: () => Promise<unknown>,
): Promise<void> {
  if (partitionKeys.length === 0) throw new InvalidArgumentError('partitionKeys', partitionKeys, 'at least one');
  checkHashKey('fromHashKey', fromHashKey);
  checkHashKey('toHashKey', toHashKey);
  const moveId = randomUUID();
  const fence = (side: Fence['side'], explicitHashKey: bigint) =>
    Promise.all(
      partitionKeys.map((partitionKey) =>
        producer.put({ partitionKey, explicitHashKey, data: fenceData({ moveId, side }) }),
      ),
    );
  await Promise.all(partitionKeys.map((partitionKey) => producer.flush(partitionKey)));
  await fence('end', fromHashKey);
  await fence('start', toHashKey);
  await switchKey();
}
