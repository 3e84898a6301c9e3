import {
  EarlierRecordFailedError,
  handOver,
  OrderedProducer,
  RecordRejectedError,
  type RecordSequence,
  StaleMoveError,
} from '../../../../../lib/core';
import { FakeKinesis, type RequestFate } from '../../../../../lib/testing/fake-kinesis';
import type { FakeShard } from '../../../../../lib/testing/fake-shard';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';

/** How keys move: with fences, or immediately like the `rebalance` action of the registry. */
type WayToMove = 'handOver' | 'rebalance';

/** A stream in which every key has moved several times. */
export interface MovedStream {
  readonly move: WayToMove;
  /**
   * The origin of the sequence numbers: each producer, or the source of the records. Without an origin, records have no sequence
   * numbers.
   */
  readonly numberedBy: 'producer' | 'source' | 'nobody';
  readonly shards: readonly FakeShard[];
  /** The texts of each partition key in order. Each text is put once, except for texts in `putAgain`. */
  readonly put: ReadonlyMap<string, string[]>;
  /** Texts without an acknowledgement. They can be in the stream, also after the move of their key. */
  readonly rejected: ReadonlySet<string>;
  /** Rejected texts with a higher number than every fence. They can take effect after the move. */
  readonly unfenced: ReadonlySet<string>;
  /** Texts that a source delivered again with the same number after the move of their key. */
  readonly putAgain: ReadonlySet<string>;
}

const KEYS = ['a', 'b', 'c'];
const HASH_KEYS = [0n, 2n ** 126n, 2n ** 127n, 2n ** 128n - 1n];
const FATES: RequestFate[] = ['answered', 'answered', 'answered', 'failed', 'answer lost', { appliedLateByMs: 900 }];
const FORMATS = [
  {},
  { aggregation: true },
  { sequence: true },
  { aggregation: true, sequence: true },
  'source',
] as const;

/**
 * Puts several bursts of records of each key, and moves the key after each burst. Random events are: incomplete moves, repeated
 * records, new producers, failures, lost responses, late duplicates, rejected records, rejected fences, splits and merges.
 */
export async function movedStream(seed: number): Promise<MovedStream> {
  const random = seededRandom(seed);
  const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const clock = new VirtualClock();
  const move = among(['handOver', 'handOver', 'rebalance'] as const);
  const format = among(FORMATS);
  const numberedBy = format === 'source' ? format : 'sequence' in format ? 'producer' : 'nobody';
  const maxAttempts = among([1, 2, 1_000, 1_000]);
  const kinesis = new FakeKinesis({
    clock,
    shardCount: 1 + Math.floor(random() * 4),
    random,
    parentsTakeMs: among([0, 1_000]),
    requestFate: () => among(FATES),
    entryFate: () => among(['stored', 'stored', 'stored', 'throttled', 'failed'] as const),
  });
  const newProducer = () =>
    new OrderedProducer(kinesis, {
      streamName: 'events',
      clock,
      random,
      backoffBaseMs: 5,
      backoffCapMs: 50,
      maxAttempts,
      ...(format === 'source' ? { aggregation: random() < 0.5 } : format),
    });
  const put = new Map(KEYS.map((key) => [key, [] as string[]]));
  const rejected = new Set<string>();
  const unfenced = new Set<string>();
  const putAgain = new Set<string>();

  const produce = async (partitionKey: string): Promise<void> => {
    let producer = newProducer();
    // The first move of a key without an explicit hash key gives it an explicit hash key. This move has no fences.
    let explicitHashKey = move === 'handOver' ? among(HASH_KEYS) : among([...HASH_KEYS, undefined]);
    let cameFrom = explicitHashKey;
    const texts = put.get(partitionKey)!;
    let openRejections: string[] = [];
    const putText = async (text: string): Promise<void> => {
      const number = BigInt(text.slice(1));
      const sequence: RecordSequence | undefined =
        format === 'source' ? { producerId: 'source', sequenceNumber: 3n * number } : undefined;
      const record = { partitionKey, explicitHashKey, data: Buffer.from(text), sequence };
      rejected.add(text);
      try {
        await producer.put(record);
        rejected.delete(text);
      } catch (error) {
        if (!isRejection(error)) throw error;
        openRejections.push(text);
      }
    };
    for (let moves = 1 + Math.floor(random() * 6); moves > 0; moves--) {
      const burst = Array.from({ length: Math.floor(random() * 6) }, () => {
        const text = `${partitionKey}${texts.length}`;
        texts.push(text);
        return putText(text);
      });
      if (random() < 0.5) await Promise.all(burst);
      if (random() < 0.2) {
        await Promise.all(burst);
        for (const text of openRejections) unfenced.add(text);
        producer = newProducer();
      }
      // A key often moves back to its earlier hash key. The end fence of one move and the start fence of the other move
      // can then be in one batch.
      const toHashKey: bigint = cameFrom !== undefined && random() < 0.7 ? cameFrom : among(HASH_KEYS);
      cameFrom = explicitHashKey;
      if (move === 'rebalance' || explicitHashKey === undefined) {
        const last = texts.at(-1);
        if (format === 'source' && last !== undefined && random() < 0.3) {
          await Promise.all(burst);
          explicitHashKey = toHashKey;
          putAgain.add(last);
          await putText(last);
        }
        explicitHashKey = toHashKey;
        await Promise.all(burst);
        continue;
      }
      const isStale = random() < 0.25;
      const fromHashKey = explicitHashKey;
      const switchKey = async (): Promise<void> => {
        if (isStale) throw new StaleMoveError(partitionKey, 'its key has changed');
        explicitHashKey = toHashKey;
      };
      let hasFences = false;
      // After a rejected fence, the hand-over starts again or is given up.
      do {
        try {
          await handOver(producer, { partitionKeys: [partitionKey], fromHashKey, toHashKey }, switchKey);
          hasFences = true;
        } catch (error) {
          hasFences = error instanceof StaleMoveError;
          if (!hasFences && !isRejection(error)) throw error;
        }
      } while (!hasFences && random() < 0.9);
      await Promise.all(burst);
      if (numberedBy !== 'producer') for (const text of openRejections) unfenced.add(text);
      if (hasFences) openRejections = [];
    }
    await producer.close();
  };
  const reshard = async (): Promise<void> => {
    if (random() < 0.5) return;
    for (const TargetShardCount of [6, 3]) {
      await clock.sleep(random() * 2_000);
      const input = { StreamName: 'events', TargetShardCount, ScalingType: 'UNIFORM_SCALING' as const };
      await kinesis.updateShardCount(input).catch(() => {});
    }
  };
  await clock.runUntil(Promise.all([...KEYS.map(produce), reshard()]));
  await clock.runOut();
  return { move, numberedBy, shards: kinesis.shards, put, rejected, unfenced, putAgain };
}

function isRejection(error: unknown): boolean {
  return error instanceof RecordRejectedError || error instanceof EarlierRecordFailedError;
}
