import {
  type HashKeyRange,
  hashPartitionKey,
  type PutRecordsClient,
  type PutRecordsInput,
  type PutRecordsOutput,
  type PutRecordsRequestEntry,
  type PutRecordsResultEntry,
  shardIndexOf,
  uniformRanges,
} from '../../lib/core';
import type { VirtualClock } from './virtual-clock';

/** What happens to one entry of a request. */
export type EntryFate = 'stored' | 'throttled' | 'refused';

/** What happens to a request as a whole. `answer lost` applies the request, then fails it. */
export type RequestFate = 'answered' | 'failed' | 'answer lost' | 'denied';

export interface FakeKinesisOptions {
  clock: VirtualClock;
  shardCount?: number;
  /** 0 answers within microtasks, as a cache or a wrapper may. @default 20 ms for every request */
  roundTripMs?(): number;
  entryFate?(entry: PutRecordsRequestEntry): EntryFate;
  requestFate?(input: PutRecordsInput): RequestFate;
}

export interface StoredRecord {
  partitionKey: string;
  data: string;
  sequenceNumber: number;
}

/** A deterministic stream in process: it stores, throttles, refuses and loses answers as its script says. */
export class FakeKinesis implements PutRecordsClient {
  readonly shards: StoredRecord[][];
  readonly requests: PutRecordsInput[] = [];
  mostInFlight = 0;
  private inFlight = 0;
  private readonly ranges: HashKeyRange[];
  private sequence = 0;

  constructor(private readonly options: FakeKinesisOptions) {
    this.ranges = uniformRanges(options.shardCount ?? 1);
    this.shards = this.ranges.map(() => []);
  }

  /** Everything a key's consumer sees, in order. */
  dataOf(partitionKey: string): string[] {
    return this.shards.flat().flatMap((record) => (record.partitionKey === partitionKey ? [record.data] : []));
  }

  async putRecords(input: PutRecordsInput): Promise<PutRecordsOutput> {
    this.requests.push(input);
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    const roundTripMs = this.options.roundTripMs?.() ?? 20;
    if (roundTripMs > 0) await this.options.clock.sleep(roundTripMs);
    this.inFlight -= 1;
    const fate = this.options.requestFate?.(input) ?? 'answered';
    if (fate === 'failed') throw serviceError('InternalFailure', 500);
    if (fate === 'denied') throw serviceError('AccessDeniedException', 400);
    const results = input.Records.map((entry) => this.apply(entry));
    if (fate === 'answer lost') throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
    return { FailedRecordCount: results.filter(({ ErrorCode }) => ErrorCode).length, Records: results };
  }

  private apply(entry: PutRecordsRequestEntry): PutRecordsResultEntry {
    const fate = this.options.entryFate?.(entry) ?? 'stored';
    if (fate === 'throttled') {
      return { ErrorCode: 'ProvisionedThroughputExceededException', ErrorMessage: 'Rate exceeded for shard' };
    }
    if (fate === 'refused') return { ErrorCode: 'InvalidArgumentException', ErrorMessage: 'refused' };
    const hashKey =
      entry.ExplicitHashKey === undefined ? hashPartitionKey(entry.PartitionKey) : BigInt(entry.ExplicitHashKey);
    const shard = shardIndexOf(hashKey, this.ranges);
    const sequenceNumber = this.sequence++;
    this.shards[shard]!.push({
      partitionKey: entry.PartitionKey,
      data: Buffer.from(entry.Data).toString(),
      sequenceNumber,
    });
    return { ShardId: `shardId-${String(shard).padStart(12, '0')}`, SequenceNumber: String(sequenceNumber) };
  }
}

function serviceError(name: string, httpStatusCode: number): Error {
  return Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
}
