import {
  bucketHashKey,
  deaggregate,
  hashPartitionKey,
  RecordRejectedError,
  type UserRecord,
} from '../../../../../lib/core';
import { DEFAULT_HASH_BUCKETS } from '../../../../../lib/core/stream-format/hash-buckets';
import type { FakeShard, StoredRecord } from '../../../../../lib/testing/fake-shard';
import { withoutDuplicates } from '../../../../support/without-duplicates';
import type { RecordOutcome, Trace } from './run-schedule';
import type { Schedule } from './schedule';

/** The position of a stored record, as in a receipt. */
interface Copy {
  index: number;
  partitionKey: string;
  explicitHashKey: bigint | undefined;
  place: string;
  sequence: UserRecord['sequence'];
}

/** Throws unless the run kept every promise of the producer. */
export function checkTrace(schedule: Schedule, trace: Trace): void {
  const stored = trace.kinesis.records();
  const copies = stored.flatMap(copiesIn);
  const outcomes = trace.ends.map((ends, index) => onlyEnd(index, ends, schedule));
  checkDelivery(outcomes, copies);
  checkRepetitions(outcomes, copies, trace);
  for (const records of [stored, sideBySide(schedule, trace), byPartitionKey(stored)]) {
    checkOrder(schedule, outcomes, records.flatMap(copiesIn));
  }
  checkRanges(trace);
  checkPlacement(schedule, outcomes, trace);
  if (schedule.feed.startsWith('putAll')) {
    checkBuffer(schedule, trace);
    if (!schedule.options.skipRejected) checkPrefixes(schedule, outcomes);
  }
  checkTimes(schedule, trace);
  checkStatistics(trace, outcomes);
}

/** A record can end this late, because the shortest timer takes 1 ms, and times have rounding errors. */
const SLACK_MS = 1.001;

/** After an abort, or after its own deadline, a record waits only for the response to a request in flight. */
function checkTimes({ options, abortAtMs = Number.POSITIVE_INFINITY }: Schedule, { times, ends }: Trace): void {
  const { maxRecordAgeMs = Number.POSITIVE_INFINITY, requestTimeoutMs } = options;
  times.forEach((time, index) => {
    const { putAtMs, endedAtMs } = time;
    const lastSentAtMs = Math.max(putAtMs, Math.min(abortAtMs, putAtMs + maxRecordAgeMs + SLACK_MS));
    if (ends[index]!.length > 0 && endedAtMs > lastSentAtMs + requestTimeoutMs!) {
      throw new Error(`record ${index} was put at ${putAtMs} ms, and its outcome came too late, at ${endedAtMs} ms`);
    }
  });
}

function copiesIn(stored: StoredRecord): Copy[] {
  const { partitionKey, data, explicitHashKey } = stored;
  const record = { partitionKey, data, explicitHashKey };
  return deaggregate(record).map(({ partitionKey, explicitHashKey, data, subSequenceNumber, sequence }) => ({
    index: Number(Buffer.from(data).toString()),
    partitionKey,
    explicitHashKey,
    place: placeOf(stored.shardId, stored.sequenceNumber, subSequenceNumber),
    sequence,
  }));
}

/** Returns the records in an order in which a consumer can read them: a shard after its parents, and other shards in parallel. */
function sideBySide({ readNext }: Schedule, { kinesis }: Trace): StoredRecord[] {
  const records: StoredRecord[] = [];
  const read = new Map<FakeShard, number>();
  const isDone = (shard: FakeShard): boolean => read.get(shard) === shard.records.length;
  const waiting = new Set(kinesis.shards);
  while (waiting.size > 0) {
    const ready = [...waiting].filter(({ parents }) => parents.every(isDone));
    const shard = ready[Math.floor(readNext() * ready.length)]!;
    const position = read.get(shard) ?? 0;
    const next = shard.records[position];
    if (next !== undefined) records.push(next);
    read.set(shard, next === undefined ? position : position + 1);
    if (isDone(shard)) waiting.delete(shard);
  }
  return records;
}

/**
 * Returns the records in an order in which parallel Lambda batches can process them: only records of the same partition key are in
 * order.
 */
function byPartitionKey(stored: readonly StoredRecord[]): StoredRecord[] {
  const shardIds = new Map<string, StoredRecord[]>();
  for (const record of stored) shardIds.set(record.shardId, [...(shardIds.get(record.shardId) ?? []), record]);
  return [...shardIds.values()].flatMap((records) =>
    records.sort((a, b) => Number(a.partitionKey > b.partitionKey) - Number(a.partitionKey < b.partitionKey)),
  );
}

/**
 * Checks that the filter of the Kinesis Client Library would drop no user record: each user record is in the hash key range of its
 * shard.
 */
function checkRanges({ kinesis }: Trace): void {
  for (const { range, records } of kinesis.shards) {
    for (const { partitionKey, data } of records) {
      const record = { partitionKey, data };
      if (deaggregate(record, { range }).length !== deaggregate(record).length) {
        throw new Error(`a record of ${partitionKey} is outside the hash key range of its shard`);
      }
    }
  }
}

/** The expected hash key of a record. It does not depend on the other records of an aggregate. */
function hashKeyOf({ records, options }: Schedule, index: number): bigint {
  const { partitionKey, explicitHashKey } = records[index]!;
  const { aggregation, hashBuckets = aggregation === 'packed' ? DEFAULT_HASH_BUCKETS : undefined } = options;
  const ofKey = hashBuckets === undefined ? hashPartitionKey(partitionKey) : bucketHashKey(partitionKey, hashBuckets);
  return explicitHashKey ?? ofKey;
}

/** Every stored record is in the shard of its hash key, and its receipt names that shard. */
function checkPlacement(
  schedule: Schedule,
  outcomes: readonly (RecordOutcome | undefined)[],
  { kinesis }: Trace,
): void {
  const rangeHolds = ({ range }: FakeShard, hashKey: bigint): boolean =>
    range.startingHashKey <= hashKey && hashKey <= range.endingHashKey;
  const shards = new Map(kinesis.shards.map((shard) => [shard.shardId, shard]));
  for (const shard of kinesis.shards) {
    for (const { index, partitionKey, explicitHashKey } of shard.records.flatMap(copiesIn)) {
      const hashKey = hashKeyOf(schedule, index);
      if ((explicitHashKey ?? hashPartitionKey(partitionKey)) !== hashKey || !rangeHolds(shard, hashKey)) {
        throw new Error(
          `record ${index} must have the hash key ${hashKey}, got ${explicitHashKey} in ${shard.shardId}`,
        );
      }
    }
  }
  outcomes.forEach((outcome, index) => {
    if (outcome === undefined || !('receipt' in outcome)) return;
    const { shardId } = outcome.receipt;
    if (!rangeHolds(shards.get(shardId)!, hashKeyOf(schedule, index))) {
      throw new Error(`the receipt of record ${index} names ${shardId}, whose range does not contain its hash key`);
    }
  });
}

function placeOf(shardId: string, sequenceNumber: string, subSequenceNumber = 0): string {
  return `${shardId} ${sequenceNumber} ${subSequenceNumber}`;
}

/**
 * Every pulled record has exactly one outcome. Only after an abort, or after `close`, can the source have records that were not
 * pulled.
 */
function onlyEnd(
  index: number,
  ends: readonly RecordOutcome[],
  { abortAtMs, closeAtMs, feed }: Schedule,
): RecordOutcome | undefined {
  const mayBeUnpulled = (abortAtMs ?? closeAtMs) !== undefined && feed.startsWith('putAll');
  if (ends.length !== 1 && !(mayBeUnpulled && ends.length === 0)) {
    throw new Error(`record ${index} must have one outcome, got ${ends.length}`);
  }
  return ends[0];
}

function checkDelivery(outcomes: readonly (RecordOutcome | undefined)[], copies: readonly Copy[]): void {
  const byPlace = new Map(copies.map(({ place, index }) => [place, index]));
  const stored = new Set(copies.map(({ index }) => index));
  outcomes.forEach((outcome, index) => {
    if (outcome !== undefined && 'receipt' in outcome) {
      const { shardId, sequenceNumber, subSequenceNumber } = outcome.receipt;
      const found = byPlace.get(placeOf(shardId, sequenceNumber, subSequenceNumber));
      if (found !== index) throw new Error(`the position in the receipt of record ${index} has record ${found}`);
    } else if (stored.has(index) && !isAmbiguous(outcome)) {
      throw new Error(`record ${index} was rejected for good, and is in the stream`);
    }
  });
}

/** Only a lost response can cause a duplicate. A record is in the stream at most once for each attempt. */
function checkRepetitions(
  outcomes: readonly (RecordOutcome | undefined)[],
  copies: readonly Copy[],
  { answersWereLost }: Trace,
): void {
  const counts = new Map<number, number>();
  for (const { index } of copies) counts.set(index, (counts.get(index) ?? 0) + 1);
  for (const [index, count] of counts) {
    const most = answersWereLost ? attemptsOf(outcomes[index]) : 1;
    if (count > most) throw new Error(`record ${index} must be in the stream at most ${most} times, got ${count}`);
  }
}

/**
 * A consumer that deduplicates by sequence sees the records of each key in order. A consumer that drops records with a repeated
 * content sees the other records in order, except for rejected records that may have been written. The order holds only for records
 * of a key with the same hash key, because records with different hash keys can be in two shards.
 */
function checkOrder(
  schedule: Schedule,
  outcomes: readonly (RecordOutcome | undefined)[],
  copies: readonly Copy[],
): void {
  const seen = new Set<number>();
  const taken = schedule.options.sequence
    ? withoutDuplicates(copies)
    : copies.filter(({ index }) => !isAmbiguous(outcomes[index]) && !seen.has(index) && seen.add(index));
  const last = new Map<string, number>();
  for (const { partitionKey, index } of taken) {
    const place = `${partitionKey} ${hashKeyOf(schedule, index)}`;
    const before = last.get(place) ?? -1;
    if (index <= before) throw new Error(`record ${index} of ${partitionKey} comes after the later record ${before}`);
    last.set(place, index);
  }
  const indices = new Set(taken.map(({ index }) => index));
  outcomes.forEach((outcome, index) => {
    if (outcome !== undefined && 'receipt' in outcome && !indices.has(index))
      throw new Error(`record ${index} is lost`);
  });
}

/** Without `skipRejected`, no record of a key is delivered after a rejected record of the key. */
function checkPrefixes({ records }: Schedule, outcomes: readonly (RecordOutcome | undefined)[]): void {
  const failed = new Set<string>();
  records.forEach(({ partitionKey }, index) => {
    const isDelivered = 'receipt' in Object(outcomes[index]);
    if (isDelivered && failed.has(partitionKey))
      throw new Error(`record ${index} was sent after a failed record of its key`);
    if (!isDelivered) failed.add(partitionKey);
  });
}

/**
 * The producer pulls at most the number of records that its limits allow. The bytes can exceed their limit by a part of one record.
 */
function checkBuffer({ options, records }: Schedule, { mostBuffered }: Trace): void {
  const largest = Math.max(...records.map(({ data, partitionKey }) => data.length + Buffer.byteLength(partitionKey)));
  const { maxBufferedRecords, maxBufferedBytes } = options;
  if (mostBuffered.records > maxBufferedRecords! || mostBuffered.bytes >= maxBufferedBytes! + largest) {
    throw new Error(
      `the buffer had ${mostBuffered.records} records and ${mostBuffered.bytes} bytes, more than its limits`,
    );
  }
}

function checkStatistics({ producer }: Trace, outcomes: readonly (RecordOutcome | undefined)[]): void {
  const { userRecordsReceived, userRecordsPut, userRecordsFailed } = producer.statistics();
  const delivered = outcomes.filter((outcome) => 'receipt' in Object(outcome)).length;
  if (userRecordsPut !== delivered || userRecordsReceived !== userRecordsPut + userRecordsFailed) {
    throw new Error(
      `${delivered} records have a receipt, but the statistics count ${userRecordsReceived} received, ${userRecordsPut} put and ${userRecordsFailed} failed user records`,
    );
  }
}

function isAmbiguous(outcome: RecordOutcome | undefined): boolean {
  return (
    outcome !== undefined &&
    'error' in outcome &&
    outcome.error instanceof RecordRejectedError &&
    outcome.error.mayHaveBeenWritten
  );
}

function attemptsOf(outcome: RecordOutcome | undefined): number {
  if (outcome === undefined) return 0;
  if ('receipt' in outcome) return outcome.receipt.attempts;
  return outcome.error instanceof RecordRejectedError ? outcome.error.attempts : 0;
}
