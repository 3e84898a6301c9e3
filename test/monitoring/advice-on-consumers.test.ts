import { BalancedKeyAllocator, reshardStream } from '../../lib/core';
import { FakeKinesis, VirtualClock } from '../../lib/testing';
import type { StoredRecord } from '../../lib/testing/fake-shard';
import { type ConsumerSettings, SlowConsumer } from '../fakes/slow-consumer';
import { adviceOf } from './advice-of';
import { AlarmInPlay } from './alarm-in-play';

/** What the guide says of a consumer that is behind is done here until the alarm is quiet. */

const MINUTE = 60_000;
const RECORDS_A_MINUTE = 60;
const TOO_SLOW = { recordsAMinute: 12, parallelizationFactor: 1, hasOnFailure: false };
const FAST = { ...TOO_SLOW, recordsAMinute: 60 };

const keys = (count: number) => {
  const allocator = new BalancedKeyAllocator();
  return Array.from({ length: count }, (_, key) => ({
    PartitionKey: `key-${key}`,
    ExplicitHashKey: String(allocator.allocate()),
  }));
};

class Play {
  readonly clock = new VirtualClock();
  readonly kinesis = new FakeKinesis({ clock: this.clock, shardCount: 2, roundTripMs: () => 0 });
  readonly consumer: SlowConsumer;
  readonly alarm = new AlarmInPlay('EventsConsumerBehind');
  private records = 0;

  constructor(
    settings: ConsumerSettings,
    private readonly writtenTo: ReturnType<typeof keys> = keys(64),
    fails: (record: StoredRecord) => boolean = () => false,
  ) {
    this.clock.nowMs = Date.UTC(2026, 10, 21);
    this.consumer = new SlowConsumer(this.kinesis, fails, { ...settings });
  }

  /** Hours go by. Tells whether the alarm is raised after them. */
  async hours(count: number): Promise<boolean> {
    for (let minute = 0; minute < 60 * count; minute++) {
      const Records = Array.from({ length: RECORDS_A_MINUTE }, () => ({
        ...this.writtenTo[this.records++ % this.writtenTo.length]!,
        Data: new Uint8Array(1),
      }));
      await this.clock.runUntil(this.kinesis.putRecords({ StreamName: 'Events', Records }));
      await this.clock.runUntil(this.clock.sleep(MINUTE));
      const IteratorAge = this.consumer.workAMinute(this.clock.now());
      this.alarm.minute({ IncomingRecords: RECORDS_A_MINUTE, IteratorAge });
    }
    return this.alarm.isRaised;
  }
}

const advice = adviceOf('A consumer is behind');

test('a consumer that keeps up raises no alarm', async () => {
  expect(await new Play(FAST).hours(6)).toBe(false);
});

test('a failing batch holds up its shard, until it is set aside', async () => {
  expect(advice).toContain('let the event source mapping set bad records aside');
  const isBad = ({ sequenceNumber }: StoredRecord) => sequenceNumber === '90';
  const play = new Play(FAST, keys(64), isBad);
  expect(await play.hours(3)).toBe(true);
  play.consumer.settings.hasOnFailure = true;
  expect(await play.hours(3)).toBe(false);
  expect(play.consumer.setAside).toHaveLength(1);
});

test('a failing batch goes through when its cause is removed', async () => {
  expect(advice).toContain('Remove the cause');
  let isBroken = true;
  const play = new Play(FAST, keys(64), () => isBroken);
  expect(await play.hours(3)).toBe(true);
  isBroken = false;
  expect(await play.hours(6)).toBe(false);
  expect(play.consumer.setAside).toEqual([]);
});

test('a consumer that is too slow catches up with more parallelism', async () => {
  expect(advice).toContain('Give it more parallelism: `parallelizationFactor`');
  const play = new Play(TOO_SLOW);
  expect(await play.hours(3)).toBe(true);
  play.consumer.settings.parallelizationFactor = 10;
  expect(await play.hours(3)).toBe(false);
});

test('parallelism does not help a single key, and a faster consumer does', async () => {
  expect(advice).toContain('a key that is too much for one of them needs a faster consumer');
  const play = new Play(TOO_SLOW, keys(1));
  expect(await play.hours(3)).toBe(true);
  play.consumer.settings.parallelizationFactor = 10;
  expect(await play.hours(6)).toBe(true);
  play.consumer.settings.recordsAMinute = 500;
  expect(await play.hours(6)).toBe(false);
});

test('more shards help, but only with what is written from then on', async () => {
  expect(advice).toContain('They help only with what is written from then on');
  const play = new Play(TOO_SLOW);
  expect(await play.hours(3)).toBe(true);
  const timeOfDay = () => play.clock.now();
  const resharding = reshardStream(
    play.kinesis,
    { streamName: 'Events', shardCount: 16 },
    { clock: play.clock, timeOfDay },
  );
  await play.clock.runUntil(resharding);
  expect(await play.hours(3)).toBe(true);
  expect(await play.hours(12)).toBe(false);
});
