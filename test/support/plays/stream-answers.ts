import type { Kinesis, Shard } from '@aws-sdk/client-kinesis';
import { HASH_KEY_SPACE } from '../../../lib/core';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { waitUntilActive } from '../active-stream';
import { endPlay, expectSame, type OnDifference } from './differences';
import type { Compared } from './index-answers';

/** The delay between two requests for the state of the stream. An account may send 20 of these requests per second. */

type Call =
  | { name: 'putRecords'; entries: { PartitionKey: string; ExplicitHashKey?: string }[] }
  | { name: 'splitShard'; shardId: string; at: keyof typeof SPLITS }
  | { name: 'mergeShards'; shardId: string; adjacentId: string }
  | { name: 'updateShardCount'; target: number };

/** The abilities of the emulator, and the precision of its shard ranges. */
interface StreamPlay {
  calls: number;
  seed: number;
  /**
   * Whether the emulator divides a hash key space that is one key smaller. Then the bounds of a range can differ by
   * several thousand keys.
   */
  nearly?: boolean;
  /** Whether the emulator closes shards by the rules of AWS. Then the test also splits closed shards. */
  knowsClosedShards?: boolean;
  /**
   * Whether the emulator accepts records in closed shards, and rejects records at the last key of a shard. Then the
   * test puts no records.
   */
  misplaces?: boolean;
  /** Whether the emulator scales any shards to any number of equal shards. */
  scalesUniformly?: boolean;
  /** Whether the emulator keeps shards equal if their number doubles or halves. */
  doublesAndHalves?: boolean;
  /** An existing stream with equal shards. @default the test creates a stream */
  deployed?: { streamName: string; shardCount: number };
  /**
   * Called for each difference. A difference of shards always ends the test, because all later responses would differ.
   * @default the first difference ends the test
   */
  onDifference?: OnDifference;
}

/**
 * The hash keys at which the test splits a shard. kinesis-local also accepts the first two keys and the last key of a shard, which
 * AWS rejects. The unit tests of the fake test these keys.
 */
const SPLITS = {
  'a third': (first: bigint, last: bigint) => first + (last - first) / 3n,
  middle: (first: bigint, last: bigint) => (first + last) / 2n,
  'key behind it': (_: bigint, last: bigint) => last + 1n,
};

/**
 * Sends the same random calls to `FakeKinesis` and to a Kinesis emulator. Compares every response, every error and
 * every shard.
 *
 * @throws an error that names the first call with different responses, unless `onDifference` is set
 */
export async function playStreamAnswers(kinesis: Kinesis, play: StreamPlay): Promise<Compared> {
  const { calls, seed, onDifference = endPlay } = play;
  const random = seededRandom(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  const drawn = 1 + below(5);
  const { streamName = `stream-${seed}`, shardCount = drawn } = play.deployed ?? {};
  const compared: Compared = {};
  if (!play.deployed) await kinesis.createStream({ StreamName: streamName, ShardCount: shardCount });
  await waitUntilActive(kinesis, streamName);
  const clock = new VirtualClock();
  const fake = new FakeKinesis({ clock, streamName, shardCount });
  const fakeCall = <T>(promise: Promise<T>) => clock.runUntil(promise);
  for (let count = 0; count < calls; count++) {
    const [real, faked] = [await allShards(kinesis, streamName), await allShards(through(fake, clock), streamName)];
    const shards = (all: Shard[]) => all.map((shard) => plain(shard, play.nearly ? 20n : 0n));
    if (!expectSame(shards(faked), shards(real), `the shards in front of call ${count}`, onDifference)) return compared;
    const call = drawCall(real, below, play);
    const expected = await outcome(() => ask(kinesis, streamName, real, call));
    const got = await outcome(() => fakeCall(ask(fake as unknown as Kinesis, streamName, faked, call)));
    const kind = `${call.name} ${expected.refusal ?? 'answered'}`;
    compared[kind] = (compared[kind] ?? 0) + 1;
    expectSame(got, expected, call, onDifference);
    await waitUntilActive(kinesis, streamName);
    await fakeCall(clock.sleep(600_000));
  }
  return compared;
}

function drawCall(shards: readonly Shard[], below: (bound: number) => number, play: StreamPlay): Call {
  const oneOf = <T>(values: readonly T[]) => values[below(values.length)]!;
  // The test does not compare responses about closed or exchanged shards, because no response of AWS was recorded for
  // these cases.
  const open = shards
    .filter(isOpen)
    .sort((a, b) => Number(BigInt(a.HashKeyRange!.StartingHashKey!) - BigInt(b.HashKeyRange!.StartingHashKey!)));
  const idOf = (index: number) => open[index]?.ShardId ?? 'shardId-000000009999';
  // The largest possible number belongs to no shard, so some requests name a shard that does not exist.
  const shard = below(open.length + 1);
  const closed = shards.filter((each) => !isOpen(each));
  if (play.knowsClosedShards && closed.length > 0 && below(6) === 0) {
    return { name: 'splitShard', shardId: oneOf(closed).ShardId!, at: 'middle' };
  }
  if (play.doublesAndHalves && below(6) === 0 && areEqual(open)) {
    return {
      name: 'updateShardCount',
      target: open.length % 2 === 0 && below(2) === 0 ? open.length / 2 : 2 * open.length,
    };
  }
  if (play.scalesUniformly && below(4) === 0) {
    return { name: 'updateShardCount', target: below(Math.min(16, 2 * open.length + 2)) };
  }
  switch (play.misplaces ? 1 + below(2) : below(3)) {
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
    case 'updateShardCount': {
      const asked = { StreamName, TargetShardCount: call.target, ScalingType: 'UNIFORM_SCALING' as const };
      const { CurrentShardCount, TargetShardCount } = await client.updateShardCount(asked);
      return { CurrentShardCount, TargetShardCount };
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

/** A client of the fake. A virtual clock advances during each call. */
function through(fake: FakeKinesis, clock: VirtualClock): Kinesis {
  return { listShards: (input: never) => clock.runUntil(fake.listShards(input)) } as unknown as Kinesis;
}

export async function allShards(client: Kinesis, StreamName: string): Promise<Shard[]> {
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
 * The compared fields of a shard: its range and its state. Sequence numbers are not compared. `lostBits` is the number
 * of low bits of a hash key that are not compared.
 */
function plain(shard: Shard, lostBits: bigint): object {
  const { ShardId, ParentShardId, AdjacentParentShardId, HashKeyRange } = shard;
  const nearly = (key = '') => (BigInt(key) + ((1n << lostBits) >> 1n)) >> lostBits;
  return {
    ShardId,
    ParentShardId,
    AdjacentParentShardId,
    from: String(nearly(HashKeyRange?.StartingHashKey)),
    to: String(nearly(HashKeyRange?.EndingHashKey)),
    isOpen: isOpen(shard),
  };
}

function isOpen({ SequenceNumberRange }: Shard): boolean {
  return SequenceNumberRange?.EndingSequenceNumber === undefined;
}

/** Whether all open shards have the same size, so that shards that double or halve stay equal. */
function areEqual(open: readonly Shard[]): boolean {
  const widths = open.map(({ HashKeyRange: range }) => BigInt(range!.EndingHashKey!) - BigInt(range!.StartingHashKey!));
  return widths.every((width) => width === widths[0]);
}
