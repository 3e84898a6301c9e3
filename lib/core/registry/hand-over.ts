import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from '../kernel/errors';
import type { OrderedProducer } from '../producer';
import { type Fence, fenceData } from '../stream-format/fence';
import { checkHashKey } from '../stream-format/hash-key-space';

/** The move of one owner to another hash key. */
export interface HandOver {
  /** The owner's partition keys, at least one. */
  partitionKeys: readonly string[];
  /** The current hash key of the owner's records. */
  fromHashKey: bigint;
  /** The hash key of the owner's records after the move. */
  toHashKey: bigint;
}

/**
 * Moves an owner to another hash key, and so to another shard, so that consumers keep the order of the owner's records. Use it
 * for each move of a `RebalancePlan` if the order of the owner's records matters.
 *
 * The hand-over has four steps, one after the other:
 *
 * 1. It waits until every record that was put for these partition keys has its receipt or its rejection.
 * 2. It puts an `end` fence for each partition key, as the last record with the old hash key.
 * 3. It puts a `start` fence for each partition key, as the first record with the new hash key.
 * 4. It calls `switchKey`, which records the move, usually by the registry's action `move`.
 *
 * During the hand-over, no producer may put records of these partition keys. After the hand-over, put the records with the new
 * hash key. Each consumer must be an `OrderedConsumer`, which waits at the fences.
 *
 * If the hand-over fails, or the process ends before step 4, the owner keeps the old key. You can then put records with the old
 * key, and start the hand-over again. The fences of the next attempt come after these records.
 *
 * A record that was rejected with `mayHaveBeenWritten` can still arrive after the `end` fence. If the producer has the option
 * `sequence`, the fence has a higher number than the record, and an `OrderedConsumer` with `once` in DynamoDB drops the record.
 * Otherwise the consumer handles the record late. To prevent that, wait after such a rejection, or after another producer of the
 * key has ended, until no delayed request can arrive. Then start the hand-over.
 *
 * @param producer the only producer that puts records of these partition keys
 * @param switchKey records the move; it must also succeed for a move that is already recorded
 * @throws InvalidArgumentError or InvalidHashKeyError if an argument is invalid; nothing is written then
 * @throws the error with which the producer rejects a fence, or the error of `switchKey`
 */
export async function handOver(
  producer: Pick<OrderedProducer, 'put' | 'flush'>,
  { partitionKeys, fromHashKey, toHashKey }: HandOver,
  switchKey: () => Promise<unknown>,
): Promise<void> {
  if (partitionKeys.length === 0)
    throw new InvalidArgumentError('partitionKeys', partitionKeys, 'an array of at least one partition key');
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
