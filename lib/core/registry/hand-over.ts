import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from '../kernel/errors';
import type { OrderedProducer } from '../producer';
import { type Fence, fenceData } from '../stream-format/fence';
import { checkHashKey } from '../stream-format/hash-key-space';

/** The move of one owner to another hash key. */
export interface HandOver {
  /** The owner's partition keys, at least one. */
  partitionKeys: readonly string[];
  /** The hash key of the owner's records so far. */
  fromHashKey: bigint;
  /** The hash key of the owner's records from the move on. */
  toHashKey: bigint;
}

/**
 * Moves an owner's records to another hash key, and so to another shard, in a way that lets consumers keep their order.
 * Use it for each move of a `RebalancePlan` if the order of the owner's records matters.
 *
 * The hand-over has four steps, and each waits for the one before:
 *
 * 1. It waits until every record that was put for these partition keys has its receipt or its rejection.
 * 2. It puts an `end` fence for each partition key, as the last record with the old hash key.
 * 3. It puts a `start` fence for each partition key, as the first record with the new hash key.
 * 4. It calls `switchKey`, which records the move, usually by the registry's action `move`.
 *
 * Put no record of these partition keys until the hand-over is complete, and from then on put them with the new hash
 * key. No other producer may put records of these partition keys meanwhile. Consumers must be an `OrderedConsumer`, which
 * waits at the fences.
 *
 * If the hand-over fails, or if the process ends, before the switch, the owner keeps the old key, and you can start the
 * hand-over again. The records that were put with the old key in between are in front of the fences of the next
 * attempt.
 *
 * A record whose rejection said `mayHaveBeenWritten` can still arrive behind the `end` fence. If `producer` has put it in a
 * sequence (`sequence`), the fence has a later number, and an `OrderedConsumer` with `once` in DynamoDB drops the record. Otherwise it
 * takes effect then: after such a rejection, or after the end of another producer of the key, wait until no request can be held back any
 * longer before you hand the key over.
 *
 * @param producer the only producer that puts records of these partition keys
 * @param switchKey records the move; it must succeed if it is called again for a move that it has recorded already
 * @throws InvalidArgumentError or InvalidHashKeyError before anything is written, if an argument is invalid
 * @throws the error with which the producer rejects a fence, or the error of `switchKey`
 */
export async function handOver(
  producer: Pick<OrderedProducer, 'put' | 'flush'>,
  { partitionKeys, fromHashKey, toHashKey }: HandOver,
  switchKey: () => Promise<unknown>,
): Promise<void> {
  if (partitionKeys.length === 0)
    throw new InvalidArgumentError('partitionKeys', partitionKeys, 'an array of at least one');
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
