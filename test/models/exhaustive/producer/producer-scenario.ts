import {
  deaggregate,
  EvenShardsError,
  OrderedProducer,
  type OrderedProducerOptions,
  ProducerClosedError,
  type PutReceipt,
  RecordRejectedError,
} from '../../../../lib/core';
import type { Clock } from '../../../../lib/core/kernel/clock';
import { withoutDuplicates } from '../../../support/without-duplicates';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { promise } from '../promise';
import type { World } from '../world';
import { StreamInSteps } from './stream-in-steps';

export interface ProducerBounds {
  /** The records, named by key and number, such as `a1`. */
  records: readonly string[];
  /** Whether each `put` is a step, or all puts come in one step. */
  feed: 'at once' | 'in steps';
  /** The maximum number of faults in a run: an entry is throttled or rejected, or a request has no response. */
  faults: number;
  /** The actions of the caller and of the stream. Each action happens once, at any moment. */
  meanwhile?: readonly ('abort' | 'flush' | 'close' | 'split' | 'merge')[];
  /** Another fault of requests: a malformed response, or a timeout. */
  requests?: 'have malformed responses' | 'time out';
  options?: Partial<OrderedProducerOptions>;
}

/** A value that no other timer uses, so that the clock recognises the timeout of a request. */
const REQUEST_TIMEOUT_MS = 1_000_000;

/**
 * A hash key in the first of two hash buckets. The MD5 of the key a is smaller. The MD5 of the key c and the centre of the bucket
 * are larger.
 */
const BETWEEN_A_AND_C = 3n * 2n ** 124n;

type End = { receipt: PutReceipt } | { error: Error };

/** A producer writes to a stream. Each request is a step of the run. */
export function producerScenario(name: string, bounds: ProducerBounds): Scenario {
  return { name, timerFootprint: { writes: ['producer'] }, play: (world) => play(world, bounds) };
}

async function play(world: World, bounds: ProducerBounds): Promise<void> {
  const { records, feed, meanwhile = [], requests, options } = bounds;
  const faults = new Faults(world, bounds.faults);
  const stream = new StreamInSteps(world, faults, {
    shardCount: meanwhile.includes('merge') ? 2 : 1,
    malformedResponses: requests === 'have malformed responses',
  });
  let timeOuts = 0;
  const timeOut = (giveUp: () => void): (() => void) => {
    if (requests !== 'time out') return () => {};
    return faults.offer(`time-out ${++timeOuts}`, { writes: ['producer'] }, () => {
      stream.answersWereLost = true;
      giveUp();
    });
  };
  const abort = new AbortController();
  const producer = new OrderedProducer(stream.client, {
    streamName: 'Events',
    clock: withTimeOuts(world.clock, timeOut),
    random: () => 0.5,
    maxRequestsInFlight: 2,
    maxAttempts: 3,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    signal: abort.signal,
    ...options,
  });
  const ends = new Map<string, End[]>(records.map((record) => [record, []]));
  const put = (record: string): Promise<void> =>
    producer.put({ partitionKey: record[0]!, data: Buffer.from(record) }).then(
      (receipt) => void ends.get(record)!.push({ receipt }),
      (error) => void ends.get(record)!.push({ error }),
    );
  const happensMeanwhile = {
    abort: () => {
      abort.abort();
      stream.mustBeQuiet = true;
    },
    flush: () => checkFlush(producer, ends),
    close: () => {
      takenBeforeClose = producer.statistics().userRecordsReceived;
      return checkClose(producer, ends);
    },
    split: () => stream.shards.split(stream.shards.open[0]!, BETWEEN_A_AND_C),
    merge: () => stream.shards.merge(stream.shards.open[0]!, stream.shards.open[1]!),
  };
  const puts: Promise<void>[] = [];
  const checked: unknown[] = [];
  let takenBeforeClose: number | undefined;
  for (const what of meanwhile) {
    // The producer can read the shards at any moment.
    world.offer(what, { writes: ['producer', 'shards'] }, () => checked.push(happensMeanwhile[what]()));
  }
  if (feed === 'at once') puts.push(...records.map(put));
  else {
    await world.until(
      (async () => {
        for (const record of records) {
          await world.answer(`put ${record}`, { writes: ['producer'] });
          puts.push(put(record));
        }
      })(),
    );
  }
  await world.until(Promise.all([...puts, producer.close()]));
  await world.untilAllStepsAreTaken();
  await Promise.all(checked);
  const taken = producer.statistics().userRecordsReceived;
  if (taken > (takenBeforeClose ?? taken)) throw new Error('no record is accepted after a close');
  check(bounds, ends, stream);
}

/** The timeout of a request is a step that can happen at any moment or never. */
function withTimeOuts(clock: Clock, timeOut: Clock['schedule']): Clock {
  return {
    ...clock,
    schedule: (callback, delayMs) => (delayMs === REQUEST_TIMEOUT_MS ? timeOut : clock.schedule)(callback, delayMs),
  };
}

/** Checks that all records put before a flush have ended when the flush resolves. */
async function checkFlush(producer: OrderedProducer, ends: ReadonlyMap<string, readonly End[]>): Promise<void> {
  const { userRecordsReceived } = producer.statistics();
  await producer.flush();
  if (endedOf(ends) < userRecordsReceived)
    throw new Error('flush resolves only when the records that were put before it have ended');
}

/** Checks that all records put before a close have ended when the close resolves. */
async function checkClose(producer: OrderedProducer, ends: ReadonlyMap<string, readonly End[]>): Promise<void> {
  const { userRecordsReceived } = producer.statistics();
  await producer.close();
  if (endedOf(ends) < userRecordsReceived)
    throw new Error('close resolves only when the records that were put before it have ended');
}

/** The number of accepted records that have ended. */
function endedOf(ends: ReadonlyMap<string, readonly End[]>): number {
  const wasTaken = (end: End): boolean => 'receipt' in end || !(end.error instanceof ProducerClosedError);
  return [...ends.values()].filter((ofRecord) => ofRecord.some(wasTaken)).length;
}

/** Checks the promises of the producer. The text of each error names the broken promise. */
function check(
  { records, feed, options = {} }: ProducerBounds,
  ends: ReadonlyMap<string, readonly End[]>,
  stream: StreamInSteps,
): void {
  const { sequence = false, skipRejected = false } = options;
  const stored = stream.records().flatMap((record) =>
    deaggregate(record).map(({ partitionKey, data, subSequenceNumber, sequence: position }) => ({
      partitionKey,
      record: Buffer.from(data).toString(),
      position: `${record.shardId} ${record.sequenceNumber} ${subSequenceNumber}`,
      sequence: position,
    })),
  );
  promise(stream.wasQuiet, 'no request is sent after an abort');
  promise(stream.namedTheRecordBefore, 'a sequential put passes the sequence number of the record before it');
  for (const { range, records: ofShard } of stream.shards.all) {
    const isWhole = ofShard.every((each) => deaggregate(each, { range }).length === deaggregate(each).length);
    promise(isWhole, 'each record is in the shard whose range contains its hash key');
  }
  const open = new Set<string>();
  const delivered = new Set<string>();
  for (const record of records) {
    const [end, ...more] = ends.get(record)!;
    promise(end !== undefined && more.length === 0, 'each record ends once');
    const own = stored.filter((each) => each.record === record);
    promise(own.length <= 1 || stream.answersWereLost, 'there is no duplicate without a lost response');
    if ('receipt' in end!) {
      const { shardId, sequenceNumber, subSequenceNumber = 0 } = end.receipt;
      const position = `${shardId} ${sequenceNumber} ${subSequenceNumber}`;
      promise(
        own.some((each) => each.position === position),
        'a receipt has the position of its record',
      );
      delivered.add(record);
    } else {
      promise(end!.error instanceof EvenShardsError, 'a rejection has a typed error');
      const mayBeThere = end!.error instanceof RecordRejectedError && end!.error.mayHaveBeenWritten;
      promise(own.length === 0 || mayBeThere, 'a record that is rejected for good is not in the stream');
      if (mayBeThere) open.add(record);
    }
  }
  // A record that is put after the rejection of the previous record starts a new sequence of its key.
  if (feed === 'at once' && !skipRejected) {
    for (const record of delivered) {
      const before = records.filter((other) => other[0] === record[0] && other < record);
      promise(
        before.every((other) => delivered.has(other)),
        'no record is sent after a rejected record of its key',
      );
    }
  }
  const seen = new Set<string>();
  const taken = sequence
    ? withoutDuplicates(stored)
    : stored.filter(({ record }) => !open.has(record) && !seen.has(record) && seen.add(record));
  const last = new Map<string, string>();
  for (const { partitionKey, record } of taken) {
    promise((last.get(partitionKey) ?? '') < record, 'each key is in order');
    last.set(partitionKey, record);
  }
  const takenRecords = new Set(taken.map(({ record }) => record));
  promise(
    [...delivered].every((record) => takenRecords.has(record)),
    'no acknowledged record is lost',
  );
}
