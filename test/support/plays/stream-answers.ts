import { setTimeout } from 'node:timers/promises';
import type { Kinesis, Shard } from '@aws-sdk/client-kinesis';
import { HASH_KEY_SPACE } from '../../../lib/core';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { endPlay, expectSame, type OnDifference } from './differences';
import type { Compared } from './index-answers';

/** An account may ask 20 times a second. */
const LOOK_AGAIN_MS = 60;

type Call =
  | { name: 'putRecords'; entries: { PartitionKey: string; ExplicitHashKey?: string }[] }
  | { name: 'splitShard'; shardId: string; at: keyof typeof SPLITS }
  | { name: 'mergeShards'; shardId: string; adjacentId: string }
  | { name: 'updateShardCount'; target: number };

/** What can be asked of both, and how exactly their shards agree. */
interface StreamPlay {
  calls: number;
  seed: number;
  /** Whether the emulator divides one key less than there are, so that ranges agree to some thousand keys. */
  nearly?: boolean;
  /** Whether it closes shards by the rules of AWS: then closed shards are split, too. */
  knowsClosedShards?: boolean;
  /** Whether it puts records into closed shards, and none at the last key of a shard: then none is put. */
  misplaces?: boolean;
  /** Whether it makes equal shards of equal ones, if there are to be twice or half as many. */
  doublesAndHalves?: boolean;
  /** A stream that is there, with equal shards. @default one is created */
  deployed?: { streamName: string; shardCount: number };
  /** Once shards differ, all that follows would: so that ends the play in any case. @default the first difference ends the play */
  onDifference?: OnDifference;
}

/**
 * Where a shard may be split, and where it may not. kinesis-local also takes its first two keys and its last, which AWS
 * refuses: the tests of the fake have them.
 */
const SPLITS = {
  'a third': (first: bigint, last: bigint) => first + (last - first) / 3n,
  middle: (first: bigint, last: bigint) => (first + last) / 2n,
  'key behind it': (_: bigint, last: bigint) => last + 1n,
};

/**
 * The same random calls to `FakeKinesis` and to an emulator of Kinesis: every answer, every refusal and every shard is compared.
 *
 * @throws an error that names the call of the first difference, unless `onDifference` takes it
 */
export async function playStreamAnswers(kinesis: Kinesis, play: StreamPlay): Promise<Compared> {
  const { calls, seed, onDifference = endPlay } = play;
  const random = seededRandom(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  const drawn = 1 + below(5);
  const { streamName = `stream-${seed}`, shardCount = drawn } = play.deployed ?? {};
  const compared: Compared = {};
  if (!play.deployed) await kinesis.createStream({ StreamName: streamName, ShardCount: shardCount });
  await active(kinesis, streamName);
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
    await active(kinesis, streamName);
    await fakeCall(clock.sleep(600_000));
  }
  return compared;
}

function drawCall(shards: readonly Shard[], below: (bound: number) => number, play: StreamPlay): Call {
  const oneOf = <T>(values: readonly T[]) => values[below(values.length)]!;
  // What the emulator says of a closed shard, and of two in the wrong order, is no rule of AWS that anybody has captured.
  const open = shards
    .filter(isOpen)
    .sort((a, b) => Number(BigInt(a.HashKeyRange!.StartingHashKey!) - BigInt(b.HashKeyRange!.StartingHashKey!)));
  const idOf = (index: number) => open[index]?.ShardId ?? 'shardId-000000009999';
  // One more than there are.
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

/** The fake, whose time passes while it is asked. */
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
 * What a shard is, and whether it is closed; sequence numbers are each service's own. The emulator divides one key less than
 * there are, so ranges agree to some thousand keys.
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

export async function active(kinesis: Kinesis, StreamName: string): Promise<void> {
  for (;;) {
    const { StreamDescriptionSummary } = await kinesis.describeStreamSummary({ StreamName });
    if (StreamDescriptionSummary?.StreamStatus === 'ACTIVE') return;
    await setTimeout(LOOK_AGAIN_MS);
  }
}

/** Whether an emulator that halves shards comes to equal ones. */
function areEqual(open: readonly Shard[]): boolean {
  const widths = open.map(({ HashKeyRange: range }) => BigInt(range!.EndingHashKey!) - BigInt(range!.StartingHashKey!));
  return widths.every((width) => width === widths[0]);
}
