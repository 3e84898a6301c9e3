import { setTimeout } from 'node:timers/promises';
import type { Kinesis, Shard } from '@aws-sdk/client-kinesis';
import { localClients } from '../../../bin/local/emulators/clients';
import type { Emulator } from '../../../bin/local/emulators/emulator-thread';
import { startKinesisEmulator } from '../../../bin/local/emulators/kinesis-emulator';
import { HASH_KEY_SPACE } from '../../../lib/core';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { randomRuns } from '../../support/random-runs';

/**
 * The same random calls to `FakeKinesis` and to kinesis-local, the emulator of `even-shards local`: every answer, every refusal
 * and every shard is compared. The register of models, docs/models.md, names what the two know differently.
 */
const STREAMS = randomRuns(4);
const CALLS = 25;

type Call =
  | { name: 'putRecords'; entries: { PartitionKey: string; ExplicitHashKey?: string }[] }
  | { name: 'splitShard'; shardId: string; at: keyof typeof SPLITS }
  | { name: 'mergeShards'; shardId: string; adjacentId: string };

/**
 * Where a shard may be split, and where it may not. The emulator also takes its first two keys and its last, which AWS
 * refuses: the tests of the fake have them.
 */
const SPLITS = {
  'a third': (first: bigint, last: bigint) => first + (last - first) / 3n,
  middle: (first: bigint, last: bigint) => (first + last) / 2n,
  'key behind it': (_: bigint, last: bigint) => last + 1n,
};

let emulator: Emulator;
let kinesis: Kinesis;

beforeAll(async () => {
  emulator = await startKinesisEmulator();
  const { endpoint } = emulator;
  ({ kinesis } = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint }));
}, 60_000);
afterAll(async () => {
  kinesis?.destroy();
  await emulator?.stop();
});

const compared: Record<string, number> = {};

test.each(Array.from({ length: STREAMS }, (_, seed) => seed))(
  'the fake answers as the emulator does: seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    const below = (bound: number) => Math.floor(random() * bound);
    const streamName = `stream-${seed}`;
    const shardCount = 1 + below(5);
    await kinesis.createStream({ StreamName: streamName, ShardCount: shardCount });
    await active(streamName);
    const clock = new VirtualClock();
    const fake = new FakeKinesis({ clock, streamName, shardCount });
    const fakeCall = <T>(promise: Promise<T>) => clock.runUntil(promise);
    for (let count = 0; count < CALLS; count++) {
      const [real, faked] = [await allShards(kinesis, streamName), await allShards(through(fake, clock), streamName)];
      expect(faked.map(plain)).toEqual(real.map(plain));
      const call = drawCall(real, below);
      const expected = await outcome(() => ask(kinesis, streamName, real, call));
      const got = await outcome(() => fakeCall(ask(fake as unknown as Kinesis, streamName, faked, call)));
      const kind = `${call.name} ${expected.refusal ?? 'answered'}`;
      compared[kind] = (compared[kind] ?? 0) + 1;
      expect({ call, ...got }).toEqual({ call, ...expected });
      await active(streamName);
      await fakeCall(clock.sleep(600_000));
    }
  },
  60_000,
);

test('each call was answered, and refused for each of its reasons', () => {
  expect(Object.keys(compared).sort()).toEqual([
    'mergeShards InvalidArgumentException',
    'mergeShards ResourceNotFoundException',
    'mergeShards answered',
    'putRecords answered',
    'splitShard InvalidArgumentException',
    'splitShard ResourceNotFoundException',
    'splitShard answered',
  ]);
});

function drawCall(shards: readonly Shard[], below: (bound: number) => number): Call {
  const oneOf = <T>(values: readonly T[]) => values[below(values.length)]!;
  // What the emulator says of a closed shard, and of two in the wrong order, is no rule of AWS that anybody has captured.
  const open = shards
    .filter(isOpen)
    .sort((a, b) => Number(BigInt(a.HashKeyRange!.StartingHashKey!) - BigInt(b.HashKeyRange!.StartingHashKey!)));
  const idOf = (index: number) => open[index]?.ShardId ?? 'shardId-000000009999';
  // One more than there are.
  const shard = below(open.length + 1);
  switch (below(3)) {
    case 0: {
      const entries = Array.from({ length: 1 + below(5) }, () => {
        const ExplicitHashKey = oneOf([
          undefined,
          '0',
          String(HASH_KEY_SPACE - 1n),
          String(BigInt(below(2 ** 30)) << 98n),
        ]);
        return { PartitionKey: `key-${below(1_000)}`, ...(ExplicitHashKey !== undefined && { ExplicitHashKey }) };
      });
      return { name: 'putRecords', entries };
    }
    case 1:
      return {
        name: 'splitShard',
        shardId: idOf(shard),
        at: oneOf([...Object.keys(SPLITS), 'middle', 'middle'] as (keyof typeof SPLITS)[]),
      };
    default: {
      const adjacent = below(3) === 0 ? shard + 1 + below(open.length) : shard + 1;
      return { name: 'mergeShards', shardId: idOf(shard), adjacentId: idOf(adjacent) };
    }
  }
}

async function ask(client: Kinesis, StreamName: string, shards: readonly Shard[], call: Call): Promise<unknown> {
  switch (call.name) {
    case 'putRecords': {
      const records = call.entries.map((entry) => ({ ...entry, Data: Buffer.from('x') }));
      const { Records = [] } = await client.putRecords({ StreamName, Records: records });
      return Records.map(({ ShardId, ErrorCode }) => ShardId ?? ErrorCode);
    }
    case 'splitShard': {
      const { StartingHashKey = '0', EndingHashKey = '0' } =
        shards.find(({ ShardId }) => ShardId === call.shardId)?.HashKeyRange ?? {};
      const NewStartingHashKey = String(SPLITS[call.at](BigInt(StartingHashKey), BigInt(EndingHashKey)));
      return client.splitShard({ StreamName, ShardToSplit: call.shardId, NewStartingHashKey }).then(() => 'split');
    }
    default:
      return client
        .mergeShards({ StreamName, ShardToMerge: call.shardId, AdjacentShardToMerge: call.adjacentId })
        .then(() => 'merged');
  }
}

async function outcome(call: () => Promise<unknown>): Promise<{ answer?: unknown; refusal?: string }> {
  try {
    return { answer: await call() };
  } catch (error) {
    return { refusal: (error as Error).name };
  }
}

/** The fake, whose time passes while it is asked. */
function through(fake: FakeKinesis, clock: VirtualClock): Kinesis {
  return { listShards: (input: never) => clock.runUntil(fake.listShards(input)) } as unknown as Kinesis;
}

async function allShards(client: Kinesis, StreamName: string): Promise<Shard[]> {
  const shards: Shard[] = [];
  let NextToken: string | undefined;
  do {
    const page = await client.listShards(NextToken === undefined ? { StreamName } : { NextToken });
    shards.push(...(page.Shards ?? []));
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  return shards.sort((a, b) => (a.ShardId! < b.ShardId! ? -1 : 1));
}

/**
 * What a shard is, and whether it is closed; sequence numbers are each service's own. The emulator divides one key less than
 * there are, so ranges agree to some thousand keys.
 */
function plain(shard: Shard): object {
  const { ShardId, ParentShardId, AdjacentParentShardId, HashKeyRange } = shard;
  const nearly = (key = '') => (BigInt(key) + (1n << 19n)) >> 20n;
  return {
    ShardId,
    ParentShardId,
    AdjacentParentShardId,
    from: nearly(HashKeyRange?.StartingHashKey),
    to: nearly(HashKeyRange?.EndingHashKey),
    isOpen: isOpen(shard),
  };
}

function isOpen({ SequenceNumberRange }: Shard): boolean {
  return SequenceNumberRange?.EndingSequenceNumber === undefined;
}

async function active(StreamName: string): Promise<void> {
  for (;;) {
    const { StreamDescriptionSummary } = await kinesis.describeStreamSummary({ StreamName });
    if (StreamDescriptionSummary?.StreamStatus === 'ACTIVE') return;
    await setTimeout(5);
  }
}
