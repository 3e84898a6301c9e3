import type { Kinesis } from '@aws-sdk/client-kinesis';
import fc from 'fast-check';
import type { DeploymentPlan } from '../../../../../bin/local/assembly/deployment-plan';
import type { LocalEventSource } from '../../../../../bin/local/assembly/event-sources';
import { EventSources } from '../../../../../bin/local/event-sources/event-sources';
import type { FunctionPool } from '../../../../../bin/local/functions/function-pool';
import { EMPTY_EVENT_BYTES, MAX_EVENT_BYTES } from '../../../../../lib/core/contract/kinesis-event';
import { VirtualClock } from '../../../../../lib/testing';

/** A record, and how the function handles it. */
interface Drawn {
  /** The filter of the mapping excludes a key that begins with `out`. */
  readonly key: string;
  /** How many invocations with the record fail. A poison record always fails. */
  readonly failures: number | 'poison';
  readonly bytes: number;
  /** The delay after the previous record, in milliseconds. */
  readonly delayMs: number;
}

const drawnRecord: fc.Arbitrary<Drawn> = fc.record({
  key: fc.constantFrom('in-a', 'in-b', 'in-c', 'in-d', 'out-a', 'out-b'),
  failures: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }) },
    fc.constant<'poison'>('poison'),
  ),
  bytes: fc.oneof({ weight: 20, arbitrary: fc.constant(10) }, fc.constantFrom(2_000_000, 5_000_000)),
  delayMs: fc.constantFrom(0, 0, 100, 3_000),
});

const drawnMapping = fc.record({
  batchSize: fc.integer({ min: 1, max: 6 }),
  windowMs: fc.constantFrom(0, 2_000),
  parallelizationFactor: fc.constantFrom(1, 2, 10),
  reportsFailures: fc.boolean(),
  bisects: fc.boolean(),
  retries: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  // With an age or a number of retries, a poison record does not block its shard for ever.
  maxAgeMs: fc.constantFrom(60_000, 200_000),
  hasFilter: fc.boolean(),
  onFailure: fc.option(fc.constant('arn:aws:sqs:us-east-1:000000000000:failures'), { nil: undefined }),
  qualifier: fc.constantFrom(undefined, '7', 'live'),
});
type Mapping = typeof drawnMapping extends fc.Arbitrary<infer M> ? M : never;

interface Delivered {
  readonly numbers: readonly number[];
  readonly qualifier?: string | undefined;
}

const FUNCTION = { name: 'reader', path: 'App/Reader' };
const STREAM = { name: 'events', path: 'App/Events' };

/** Plays a shard with these records until each record is done or discarded. */
async function play(records: readonly Drawn[], { hasFilter, ...mapping }: Mapping) {
  const clock = new VirtualClock();
  const timeOfDay = () => clock.now();
  let arrivedAtMs = 0;
  const stored = records.map(({ key, bytes, delayMs }, at) => {
    arrivedAtMs += delayMs;
    return {
      SequenceNumber: String(at),
      PartitionKey: key,
      Data: Buffer.alloc(bytes),
      ApproximateArrivalTimestamp: new Date(arrivedAtMs),
    };
  });
  const kinesis = {
    listShards: async () => ({ Shards: [{ ShardId: 'shard' }] }),
    getShardIterator: async () => ({ ShardIterator: '0' }),
    getRecords: async ({ ShardIterator }: { ShardIterator: string }) => {
      const from = Number(ShardIterator);
      const Records = stored.slice(from).filter((each) => each.ApproximateArrivalTimestamp.getTime() <= clock.now());
      return { Records, NextShardIterator: String(from + Records.length), MillisBehindLatest: 0 };
    },
  };
  const left = records.map(({ failures }) => (failures === 'poison' ? Number.POSITIVE_INFINITY : failures));
  const attempts: Delivered[] = [];
  const done: number[] = [];
  const busy = new Set<string>();
  const problems: string[] = [];
  const pool = {
    definition: FUNCTION,
    async invoke(payload: string, qualifier?: string) {
      if (Buffer.byteLength(payload) > MAX_EVENT_BYTES) problems.push('an event is too large');
      const numbers: number[] = JSON.parse(payload).Records.map(({ kinesis: { sequenceNumber } }: never) =>
        Number(sequenceNumber),
      );
      attempts.push({ numbers, qualifier });
      const keys = new Set(numbers.map((number) => records[number]!.key));
      for (const key of keys) if (busy.has(key)) problems.push(`two invocations have the key ${key}`);
      for (const key of keys) busy.add(key);
      if (busy.size > 0 && mapping.parallelizationFactor === 1 && busy.size > keys.size)
        problems.push('two invocations');
      await clock.sleep(100);
      for (const key of keys) busy.delete(key);
      const failed = numbers.filter((number) => left[number]! > 0);
      for (const number of failed) left[number]! -= 1;
      if (failed.length === 0) done.push(...numbers);
      if (failed.length === 0) return { payload: 'null' };
      if (!mapping.reportsFailures)
        return { payload: '{"errorType":"Error","errorMessage":"no"}', functionError: 'Unhandled' };
      done.push(...numbers.slice(0, numbers.indexOf(failed[0]!)));
      return {
        payload: JSON.stringify({ batchItemFailures: failed.map((number) => ({ itemIdentifier: String(number) })) }),
      };
    },
  };
  const source: LocalEventSource = {
    ...{
      path: 'App/Mapping',
      functionName: FUNCTION.name,
      reads: 'stream',
      streamName: STREAM.name,
      streamArn: 'arn',
      from: 'TRIM_HORIZON',
    },
    ...(mapping as Omit<LocalEventSource, 'path'>),
    filters: hasFilter ? [{ partitionKey: [{ prefix: 'in-' }] }] : [],
  };
  const sources = new EventSources(
    { eventSources: [source], streams: [STREAM], schedules: [] } as never as DeploymentPlan,
    { kinesis: kinesis as never as Kinesis, tableStreams: kinesis as never },
    new Map([[FUNCTION.name, pool as never as FunctionPool]]),
    () => {},
    { clock, timeOfDay },
  );
  await clock.runUntil(sources.start().then(() => clock.sleep(arrivedAtMs + 400_000)));
  const [state] = sources.states;
  await clock.runUntil(Promise.all([sources.stop(), clock.sleep(20_000)]));
  return { attempts, done, problems, state: state! };
}

/** The bytes of an event with this record only, rounded up to the base64 text and the typical other fields. */
const fitsEvent = ({ bytes }: Drawn) => EMPTY_EVENT_BYTES + 4 * Math.ceil(bytes / 3) + 600 <= MAX_EVENT_BYTES;

test('a mapping with any settings handles each record once and in the order of its key, or discards it because of a documented limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(drawnRecord, { minLength: 1, maxLength: 14 }), drawnMapping, async (records, mapping) => {
      const { attempts, done, problems, state } = await play(records, mapping);
      const all = records.map((_, number) => number);
      const delivered = all.filter((number) => !mapping.hasFilter || records[number]!.key.startsWith('in'));
      expect(problems).toEqual([]);
      // Each record is done once, in the order of its key, and no excluded record is delivered.
      expect(new Set(done).size).toBe(done.length);
      for (const key of new Set(records.map((record) => record.key))) {
        const ofKey = done.filter((number) => records[number]!.key === key);
        expect(ofKey).toEqual([...ofKey].sort((one, other) => one - other));
      }
      expect(attempts.flatMap(({ numbers }) => numbers).every((number) => delivered.includes(number))).toBe(true);
      // Every delivered record ends as done or as discarded, and the state counts it.
      const discarded = delivered.filter((number) => !done.includes(number));
      expect(state).toMatchObject({ done: done.length, batches: attempts.length, waiting: 0 });
      expect(state.discarded).toBeGreaterThanOrEqual(discarded.length);
      for (const { numbers, qualifier } of attempts) {
        expect(numbers.length).toBeLessThanOrEqual(mapping.batchSize);
        expect(qualifier).toBe(mapping.qualifier);
      }
      // A poison record is never done. Without a reason, no record is discarded.
      for (const number of done) expect(records[number]!.failures).not.toBe('poison');
      const isReason = (record: Drawn) => record.failures !== 0 || !fitsEvent(record);
      if (!records.some(isReason)) expect(discarded).toEqual([]);
      // Without partial responses, no batch is delivered more often than its retries allow.
      const { retries = Number.POSITIVE_INFINITY, bisects, reportsFailures } = mapping;
      if (!reportsFailures) {
        const counts = new Map<string, number>();
        for (const { numbers } of attempts) counts.set(numbers.join(), (counts.get(numbers.join()) ?? 0) + 1);
        for (const [batch, count] of counts) {
          expect(count).toBeLessThanOrEqual(bisects && batch.includes(',') ? 1 : retries + 1);
        }
      }
      // With bisection, an old age excepted, only a record that fails more often than its retries allow is discarded.
      if (bisects && !reportsFailures && retries !== Number.POSITIVE_INFINITY && mapping.maxAgeMs === 200_000) {
        for (const number of discarded) {
          const { failures } = records[number]!;
          expect(failures === 'poison' || failures > retries || !fitsEvent(records[number]!)).toBe(true);
        }
      }
    }),
    { numRuns: 60 },
  );
});
