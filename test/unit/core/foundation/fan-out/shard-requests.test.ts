import { noCost } from '../../../../../lib/core/foundation/fan-out/fan-out-stats';
import { ItemSizes } from '../../../../../lib/core/foundation/fan-out/item-sizes';
import { type FanOutReadOptions, readPolicy } from '../../../../../lib/core/foundation/fan-out/read-policy';
import { ShardBuffer } from '../../../../../lib/core/foundation/fan-out/shard-buffer';
import type { ShardPage, ShardRead } from '../../../../../lib/core/foundation/fan-out/shard-reader';
import { ShardRequests } from '../../../../../lib/core/foundation/fan-out/shard-requests';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';

const ANSWER: ShardPage<string> = { items: ['a'], itemsRead: 1, consumedReadUnits: 0.5, itemSizes: [100] };

/** The requests of a query of as many shards as there are reads. */
function requestsOf(
  reads: ((read: ShardRead<string>, clock: VirtualClock) => Promise<ShardPage<string>>)[],
  options: FanOutReadOptions,
) {
  const clock = new VirtualClock();
  const buffers = reads.map(
    (read, shard) =>
      new ShardBuffer<string>({ shard, exhausted: false, read: (one) => read(one, clock) }, reads.length),
  );
  const stats = noCost(reads.length);
  const policy = readPolicy({ clock, ...options });
  const failureOf = () => 'transient' as const;
  return {
    clock,
    buffers,
    stats,
    requests: new ShardRequests(buffers, policy, { stats, sizes: new ItemSizes(), failureOf }),
  };
}

const whenAborted = ({ signal }: ShardRead<string>) =>
  new Promise<never>((_, reject) => {
    signal!.addEventListener('abort', () => reject(signal!.reason));
  });

test('a read that the deadline ends does not make its shard a missing one', async () => {
  const { clock, buffers, requests } = requestsOf([async () => ANSWER, whenAborted], {
    deadlineMs: 100,
    onShardFailure: 'partial',
  });
  await clock.runUntil(requests.wave(buffers.map((buffer) => ({ buffer }))));
  await clock.runOut();
  expect(clock.now()).toBe(100);
  expect(buffers.map(({ missing }) => missing)).toEqual([false, false]);
});
