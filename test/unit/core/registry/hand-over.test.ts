import fc from 'fast-check';
import {
  deaggregate,
  deduplicate,
  FenceGate,
  handOver,
  InvalidArgumentError,
  InvalidHashKeyError,
  OrderedProducer,
  parseFence,
  SequenceHistory,
  StaleMoveError,
} from '../../../../lib/core';
import { FakeKinesis, type RequestFate } from '../../../../lib/testing/fake-kinesis';
import type { FakeShard } from '../../../../lib/testing/fake-shard';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { randomRuns } from '../../../support/random-runs';

const text = (data: Uint8Array): string => Buffer.from(data).toString();

/** Reads the shards side by side, at a pace drawn at random, parents before their children; drops copies. */
async function consume(shards: readonly FakeShard[], random: () => number): Promise<Map<string, string[]>> {
  const clock = new VirtualClock();
  const gate = new FenceGate({ clock, random, onLetGo: () => expect('a move').toBe('not let go') });
  const history = new SequenceHistory();
  const seen = new Map<string, string[]>();
  const ended = new Map<FakeShard, Promise<void>>();
  const read = async ({ parents, records }: FakeShard): Promise<void> => {
    await Promise.all(parents.map((parent) => ended.get(parent)));
    for (const record of records) {
      await clock.sleep(random() * 100);
      for await (const run of gate.runs(deaggregate(record))) {
        for (const { partitionKey, data, sequence } of deduplicate(run, history)) {
          const texts = seen.get(partitionKey) ?? [];
          if (sequence !== undefined || !texts.includes(text(data))) texts.push(text(data));
          seen.set(partitionKey, texts);
        }
      }
    }
  };
  for (const shard of shards) ended.set(shard, read(shard));
  await clock.runUntil(Promise.all(ended.values()));
  return seen;
}

describe('handOver', () => {
  const keys = ['a', 'b', 'c'];
  const hashKeys = [0n, 2n ** 126n, 2n ** 127n, 2n ** 128n - 1n];

  const formats = [{}, { aggregation: true }, { sequence: true }, { aggregation: true, sequence: true }];

  test.each(formats)(
    'keeps the order of every key through failures, lost answers, late copies, resharding and failed moves, %j',
    async (format) => {
      await fc.assert(
        fc.asyncProperty(fc.integer(), async (seed) => {
          const random = seededRandom(seed);
          const among = <T>(...values: T[]): T => values[Math.floor(random() * values.length)]!;
          const clock = new VirtualClock();
          const fates: RequestFate[] = [
            'answered',
            'answered',
            'answered',
            'failed',
            'answer lost',
            { appliedLateByMs: 900 },
          ];
          const kinesis = new FakeKinesis({
            clock,
            shardCount: 4,
            parentsTakeMs: among(0, 1_000),
            random,
            requestFate: () => among(...fates),
            entryFate: () => among('stored', 'stored', 'stored', 'throttled', 'failed'),
          });
          const retries = { backoffBaseMs: 5, backoffCapMs: 50, maxAttempts: 1000 };
          const options = { streamName: 'events', clock, random, ...retries, ...format };
          const producer = new OrderedProducer(kinesis, options);

          const produce = async (partitionKey: string): Promise<void> => {
            let current = among(...hashKeys);
            let number = 0;
            for (let move = 0; move < 4; move++) {
              const burst = Array.from({ length: 4 }, () => {
                const data = Buffer.from(`${partitionKey}${number++}`);
                return producer.put({ partitionKey, explicitHashKey: current, data });
              });
              if (random() < 0.5) await Promise.all(burst);
              const toHashKey = among(...hashKeys);
              const isStale = random() < 0.25;
              const switchKey = async () => {
                if (isStale) throw new StaleMoveError(partitionKey, 'its key has changed');
                current = toHashKey;
              };
              const handedOver = handOver(
                producer,
                { partitionKeys: [partitionKey], fromHashKey: current, toHashKey },
                switchKey,
              );
              await handedOver.catch((error) => expect(error).toBeInstanceOf(StaleMoveError));
              await Promise.all(burst);
            }
          };
          const reshard = async (): Promise<void> => {
            for (const TargetShardCount of [6, 3]) {
              await clock.sleep(random() * 500);
              await kinesis
                .updateShardCount({ StreamName: 'events', TargetShardCount, ScalingType: 'UNIFORM_SCALING' })
                .catch(() => {});
            }
          };
          await clock.runUntil(Promise.all([...keys.map(produce), reshard()]));
          await clock.runOut();

          const inOrder = keys.map((key) => [key, Array.from({ length: 16 }, (_, number) => `${key}${number}`)]);
          for (let reading = 0; reading < 3; reading++) {
            expect(await consume(kinesis.shards, random)).toEqual(new Map(inOrder as [string, string[]][]));
          }
        }),
        { numRuns: randomRuns(40) },
      );
    },
  );

  test('writes the fences behind what was put before, and switches when both are written', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, shardCount: 2 });
    const producer = new OrderedProducer(kinesis, { streamName: 'events', clock });
    const before = producer.put({ partitionKey: 'a', explicitHashKey: 0n, data: Buffer.from('1') });
    let fences: unknown[] = [];
    const switchKey = async () => {
      fences = kinesis.records().map(({ shardId, data }) => [shardId.slice(-1), parseFence(data)?.side]);
    };
    const move = { partitionKeys: ['a'], fromHashKey: 0n, toHashKey: 2n ** 127n };
    await clock.runUntil(Promise.all([before, handOver(producer, move, switchKey)]));
    expect(fences).toEqual([
      ['0', undefined],
      ['0', 'end'],
      ['1', 'start'],
    ]);
  });

  test('switches nothing if a fence is rejected', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, requestFate: () => 'denied' });
    const producer = new OrderedProducer(kinesis, { streamName: 'events', clock });
    let switched = false;
    const switchKey = async () => {
      switched = true;
    };
    const move = { partitionKeys: ['a'], fromHashKey: 0n, toHashKey: 1n };
    await expect(clock.runUntil(handOver(producer, move, switchKey))).rejects.toThrow('AccessDenied');
    expect(switched).toBe(false);
  });

  test('fails for malformed moves, and writes nothing', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock });
    const producer = new OrderedProducer(kinesis, { streamName: 'events', clock });
    const move = { partitionKeys: ['a'], fromHashKey: 0n, toHashKey: 1n };
    const nothing = async () => {};
    await expect(handOver(producer, { ...move, partitionKeys: [] }, nothing)).rejects.toThrow(InvalidArgumentError);
    await expect(handOver(producer, { ...move, toHashKey: -1n }, nothing)).rejects.toThrow(InvalidHashKeyError);
    await expect(handOver(producer, { ...move, fromHashKey: -1n }, nothing)).rejects.toThrow('fromHashKey must be');
    expect(kinesis.requests).toEqual([]);
  });
});
