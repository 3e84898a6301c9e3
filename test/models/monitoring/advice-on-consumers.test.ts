import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { StreamConsumer } from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { KinesisConsumerEventSource, KinesisEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { UniformStream } from '../../../lib';
import { BalancedKeyAllocator, reshardStream } from '../../../lib/core';
import { FakeKinesis, VirtualClock } from '../../../lib/testing';
import type { StoredRecord } from '../../../lib/testing/fake-shard';
import { adviceOf } from '../../support/alarms/advice-of';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { ReadersOfAShard } from '../../support/fakes/readers-of-a-shard';
import { type ConsumerSettings, SlowConsumer } from '../../support/fakes/slow-consumer';

/** What the guide says of a consumer that is behind is done here until the alarm is quiet. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const RECORDS_A_MINUTE = 60;
const TOO_SLOW = { recordsAMinute: 12, parallelizationFactor: 1, hasOnFailure: false, retentionMs: 24 * HOUR };
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
    this.consumer = new SlowConsumer(this.kinesis, this.clock, fails, settings);
  }

  /** Hours go by. Tells whether the alarm is raised after them. */
  async hours(count: number): Promise<boolean> {
    if (this.records === 0) await this.consumer.work();
    for (let minute = 0; minute < 60 * count; minute++) {
      const Records = Array.from({ length: RECORDS_A_MINUTE }, () => ({
        ...this.writtenTo[this.records++ % this.writtenTo.length]!,
        Data: new Uint8Array(1),
      }));
      await this.clock.runUntil(this.kinesis.putRecords({ StreamName: 'Events', Records }));
      await this.clock.runUntil(this.clock.sleep(MINUTE));
      this.alarm.minute({ IncomingRecords: RECORDS_A_MINUTE, IteratorAge: this.consumer.age });
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
  await play.consumer.work({ hasOnFailure: true });
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
  await play.consumer.work({ parallelizationFactor: 10 });
  expect(await play.hours(3)).toBe(false);
});

test('parallelism does not help a single key, and a faster consumer does', async () => {
  expect(advice).toContain('a key that is too much for one of them needs a faster consumer');
  const play = new Play(TOO_SLOW, keys(1));
  expect(await play.hours(3)).toBe(true);
  await play.consumer.work({ parallelizationFactor: 10 });
  expect(await play.hours(6)).toBe(true);
  await play.consumer.work({ recordsAMinute: 500 });
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

describe('a longer retention period', () => {
  /** Four hours stand for a day. */
  const [day, week] = [4 * HOUR, 28 * HOUR];

  const untilMended = async (retentionMs: number, raisedAfterHours: number) => {
    let isBroken = true;
    const play = new Play({ ...FAST, recordsAMinute: 120, retentionMs: day }, keys(64), () => isBroken);
    await play.hours(raisedAfterHours);
    await play.consumer.work({ retentionMs });
    expect(await play.hours(8 - raisedAfterHours)).toBe(true);
    isBroken = false;
    expect(await play.hours(4)).toBe(false);
    return play.consumer.lost;
  };

  test('keeps the records that the stream still has, until the cause is removed', async () => {
    expect(advice).toContain(
      'a longer retention period of the stream (`retentionPeriod`) keeps the records that it still has',
    );
    expect(await untilMended(week, 3)).toEqual([]);
  });

  test('does not bring back what is gone, which without it is all that is older than a day', async () => {
    const lostWithout = await untilMended(day, 3);
    const lostBefore = await untilMended(week, 6);
    expect(lostBefore.length).toBeGreaterThan(0);
    expect(lostWithout.length).toBeGreaterThan(lostBefore.length);
  });

  test('changes nothing else of the stream', () => {
    const streamWith = (retentionPeriod?: Duration) => {
      const stack = new Stack(new App(), 'It');
      new UniformStream(stack, 'Events', { shardCount: 2, retentionPeriod });
      return Template.fromStack(stack).toJSON();
    };
    const [id] = Object.keys(streamWith().Resources);
    const longer = streamWith(Duration.days(7));
    expect(longer.Resources[id!].Properties.RetentionPeriodHours).toBe(168);
    longer.Resources[id!].Properties.RetentionPeriodHours = 24;
    expect(longer).toEqual(streamWith());
  });
});

describe('consumers that poll share what a shard gives', () => {
  const readers = () => new ReadersOfAShard(['orders', 'audit', 'search']);
  const polling = new AlarmInPlay('EventsIteratorAge');
  const audit = new AlarmInPlay('EventsauditBehind');
  const hours = (shard: ReadersOfAShard, count: number): { refusedReads: number } => {
    let refusedReads = 0;
    for (let minute = 0; minute < 60 * count; minute++) {
      const measured = shard.readAMinute();
      polling.minute({ IncomingRecords: RECORDS_A_MINUTE, 'GetRecords.IteratorAgeMilliseconds': measured.iteratorAge });
      audit.minute({
        IncomingRecords: RECORDS_A_MINUTE,
        'SubscribeToShardEvent.MillisBehindLatest': measured.millisBehindLatest,
      });
      refusedReads += measured.refusedReads;
    }
    return { refusedReads };
  };

  test('reads are refused and all fall behind, until some have enhanced fan-out', () => {
    expect(advice).toContain('the consumers of the stream share what a shard gives, 2 MB and five requests a second');
    expect(advice).toContain('Give some of them enhanced fan-out');
    const shard = readers();
    expect(hours(shard, 5).refusedReads).toBeGreaterThan(0);
    expect(polling.isRaised).toBe(true);

    shard.giveEnhancedFanOut('audit');
    shard.giveEnhancedFanOut('search');
    expect(hours(shard, 5).refusedReads).toBe(0);
    expect([polling.isRaised, audit.isRaised]).toEqual([false, false]);
  });

  test('the event source mapping becomes another one, and begins where it is told to', () => {
    expect(advice).toContain('A function gets [an event source mapping of its own](#watch-each-consumer) for it');
    const mappingsOf = (eventSourceOf: (stack: Stack, events: UniformStream) => lambda.IEventSource) => {
      const stack = new Stack(new App(), 'It');
      const events = new UniformStream(stack, 'Events', { shardCount: 2 });
      const code = lambda.Code.fromInline('exports.handler = async () => {}');
      const runtime = lambda.Runtime.NODEJS_22_X;
      const consumer = new lambda.Function(stack, 'Consumer', { runtime, handler: 'index.handler', code });
      consumer.addEventSource(eventSourceOf(stack, events));
      return Template.fromStack(stack).findResources('AWS::Lambda::EventSourceMapping');
    };
    const before = mappingsOf(
      (_, events) => new KinesisEventSource(events, { startingPosition: lambda.StartingPosition.TRIM_HORIZON }),
    );
    const after = mappingsOf((stack, events) => {
      const streamConsumer = new StreamConsumer(stack, 'Audit', { stream: events, streamConsumerName: 'audit' });
      const startingPosition = lambda.StartingPosition.AT_TIMESTAMP;
      return new KinesisConsumerEventSource(streamConsumer, {
        startingPosition,
        startingPositionTimestamp: 1_790_000_000,
      });
    });
    expect(Object.keys(after)).not.toEqual(Object.keys(before));
    expect(Object.values(after)[0]!.Properties).toMatchObject({
      EventSourceArn: { 'Fn::GetAtt': [expect.stringMatching(/^Audit/), 'ConsumerARN'] },
      StartingPosition: 'AT_TIMESTAMP',
      StartingPositionTimestamp: 1_790_000_000,
    });
  });
});
