import { FanOutHistory } from '../../../../../lib/core';
import type { Clock } from '../../../../../lib/core/foundation/clock';
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

describe('requests that are closed', () => {
  test('leave no timer: of a deadline, of a late answer, of a wait between attempts', async () => {
    const left = new Set<() => void>();
    const clock: Clock = {
      now: () => 0,
      schedule: (callback) => {
        left.add(callback);
        return () => left.delete(callback);
      },
      sleep: () => new Promise(() => {}),
    };
    const history = new FanOutHistory();
    for (let answer = 0; answer < 200; answer++) history.observeLatency(1, 0.01);
    const failing = () => Promise.reject(new Error('try again'));
    const { buffers, requests } = requestsOf([whenAborted, failing], {
      clock,
      history,
      hedgeBudget: 0.01,
      deadlineMs: 100,
    });
    void requests.wave(buffers.map((buffer) => ({ buffer })));
    await new Promise(setImmediate);
    expect(left.size).toBe(3);
    requests.close();
    await new Promise(setImmediate);
    expect(left.size).toBe(0);
  });

  test('send nothing that has waited for its turn', async () => {
    const sent: number[] = [];
    const waiting = [0, 1].map((shard) => (read: ShardRead<string>) => {
      sent.push(shard);
      return whenAborted(read);
    });
    const { buffers, requests } = requestsOf(waiting, { concurrency: 1 });
    void requests.wave(buffers.map((buffer) => ({ buffer })));
    await new Promise(setImmediate);
    requests.close();
    await new Promise(setImmediate);
    expect(sent).toEqual([0]);
  });

  test('drop an answer that comes too late', async () => {
    const { clock, buffers, stats, requests } = requestsOf([(_, clock) => clock.sleep(200).then(() => ANSWER)], {
      deadlineMs: 100,
    });
    await clock.runUntil(requests.wave(buffers.map((buffer) => ({ buffer }))));
    await clock.runOut();
    expect(buffers[0]!.bufferedCount).toBe(0);
    expect(stats).toMatchObject({ requests: 1, waves: 1, itemsRead: 0, consumedReadUnits: 0 });
  });
});

test('the cost of a query is what its answers have cost', async () => {
  const hiding = { ...ANSWER, itemsRead: 3, itemsHidden: 2 };
  const { clock, buffers, stats, requests } = requestsOf([async () => ANSWER, async () => hiding], {});
  await clock.runUntil(requests.wave(buffers.map((buffer) => ({ buffer }))));
  expect(stats).toEqual({
    shards: 2,
    requests: 2,
    waves: 1,
    throttled: 0,
    hedged: 0,
    itemsRead: 4,
    itemsHidden: 2,
    consumedReadUnits: 1,
  });
});
