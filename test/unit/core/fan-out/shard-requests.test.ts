import { FanOutHistory } from '../../../../lib/core';
import { noCost } from '../../../../lib/core/fan-out/fan-out-stats';
import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { type FanOutReadOptions, readPolicy } from '../../../../lib/core/fan-out/read-policy';
import { ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';
import type { ReadFailure, ShardPage, ShardRead } from '../../../../lib/core/fan-out/shard-reader';
import { ShardRequests } from '../../../../lib/core/fan-out/shard-requests';
import type { Clock } from '../../../../lib/core/kernel/clock';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

const ANSWER: ShardPage<string> = { items: ['a'], itemsRead: 1, consumedReadUnits: 0.5, itemSizes: [100] };

/** The requests of a query of as many shards as there are reads. */
function requestsOf(
  reads: ((read: ShardRead<string>, clock: VirtualClock) => Promise<ShardPage<string>>)[],
  options: FanOutReadOptions,
  failure: ReadFailure = 'transient',
) {
  const clock = new VirtualClock();
  const buffers = reads.map(
    (read, shard) =>
      new ShardBuffer<string>({ shard, exhausted: false, read: (one) => read(one, clock) }, reads.length),
  );
  const stats = noCost(reads.length);
  const policy = readPolicy({ clock, ...options });
  return {
    clock,
    buffers,
    stats,
    requests: new ShardRequests(buffers, policy, { stats, sizes: new ItemSizes(), failureOf: () => failure }),
  };
}

const whenAborted = ({ signal }: ShardRead<string>) =>
  new Promise<never>((_, reject) => {
    signal!.addEventListener('abort', () => reject(signal!.reason));
  });

/** A history that has seen 200 answers after a millisecond, and has earned two hedges: an answer is late after 3 ms. */
function quickHistory(): FanOutHistory {
  const history = new FanOutHistory();
  for (let answer = 0; answer < 200; answer++) history.observeLatency(1, 0.01);
  return history;
}

const answerAfter = (ms: number) => (_: unknown, clock: VirtualClock) => clock.sleep(ms).then(() => ANSWER);

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
    const failing = () => Promise.reject(new Error('try again'));
    const { buffers, requests } = requestsOf([whenAborted, failing], {
      clock,
      history: quickHistory(),
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

  test('count no throttle any more', async () => {
    const throttled = (_: unknown, clock: VirtualClock) =>
      clock.sleep(200).then(() => Promise.reject(new Error('slow')));
    const { clock, buffers, stats, requests } = requestsOf([throttled], { deadlineMs: 100 }, 'throttled');
    await clock.runUntil(requests.wave(buffers.map((buffer) => ({ buffer }))));
    await clock.runOut();
    expect(stats.throttled).toBe(0);
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
    const { clock, buffers, stats, requests } = requestsOf([answerAfter(200)], { deadlineMs: 100 });
    await clock.runUntil(requests.wave(buffers.map((buffer) => ({ buffer }))));
    await clock.runOut();
    expect(buffers[0]!.bufferedCount).toBe(0);
    expect(stats).toMatchObject({ requests: 1, waves: 1, itemsRead: 0, consumedReadUnits: 0 });
  });
});

describe('a late read', () => {
  test.each([
    [2, 0.01, 0],
    [3, 0.01, 1],
    [4, 0.01, 2],
    [4, 0, 0],
  ])(
    'is sent again if there is room for it: of two, with a concurrency of %d and a budget of %d, %d',
    async (concurrency, hedgeBudget, hedged) => {
      const options = { history: quickHistory(), hedgeBudget, concurrency };
      const { clock, buffers, stats, requests } = requestsOf([100, 100].map(answerAfter), options);
      await clock.runUntil(requests.wave(buffers.map((buffer) => ({ buffer }))));
      expect(stats.hedged).toBe(hedged);
    },
  );

  test('gives its room back, is aborted when the other one has answered, and tells how long it took at least', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const late = (read: ShardRead<string>, clock: VirtualClock) => {
      signals.push(read.signal);
      return signals.length === 1 ? whenAborted(read) : answerAfter(2)(read, clock);
    };
    const history = quickHistory();
    const observed = jest.spyOn(history, 'observeLatency');
    const options = { history, hedgeBudget: 0.01, concurrency: 3 };
    const { clock, buffers, requests } = requestsOf([late, answerAfter(2), answerAfter(2)], options);
    const reads = buffers.map((buffer) => ({ buffer }));
    await clock.runUntil(requests.wave(reads));
    expect([clock.now(), ...signals.map((signal) => signal!.aborted)]).toEqual([5, true, false]);
    expect(observed.mock.calls.map(([ms]) => ms)).toEqual([2, 2, 2, 5]);
    await clock.runUntil(requests.wave(reads));
    expect(clock.now()).toBe(7);
  });
});
