import { RecentMap } from '../../../lib/core/kernel/recent-map';
import { type KinesisLimits, type KinesisResource, LIMITED_CALLS } from '../../../lib/testing/kinesis-limits';
import { type Forward, type Gate, refusal, type ServiceAnswer, type ServiceCall } from '../emulators/gated-service';
import type { ShardMaps } from './shard-maps';
import type { Traffic } from './traffic';

interface KinesisGateParts {
  readonly shards: ShardMaps;
  /** Absent if nothing is limited. */
  readonly limits?: KinesisLimits;
  readonly traffic: Traffic;
}

const RESHARDS = ['CreateStream', 'DeleteStream', 'MergeShards', 'SplitShard', 'UpdateShardCount'];

/** The operations that the gate checks. All other calls pass unchanged. */
export const GATED_BY_KINESIS: ReadonlySet<string> = new Set([
  'PutRecord',
  'PutRecords',
  'GetRecords',
  ...LIMITED_CALLS,
]);

/**
 * The gate checks this limit, because kinesis-local accepts more records. Source: the Kinesis API reference,
 * PutRecords.
 */
const MAX_REQUEST_RECORDS = 500;

/** The maximum number of shard iterators that the gate remembers. An iterator expires after five minutes. */
const MAX_ITERATORS = 10_000;

const THROTTLED = 'ProvisionedThroughputExceededException';

interface Entry {
  /** A base64 string in JSON, and bytes in CBOR. */
  Data?: string | Uint8Array;
  PartitionKey?: string;
  ExplicitHashKey?: string;
}

/** Throttles calls as Kinesis would, by the limits of each shard. The errors are the same as in Kinesis. */
export class KinesisGate {
  private readonly iterators = new RecentMap<string, KinesisResource>(MAX_ITERATORS);
  private readonly resharding = new Set<string>();

  constructor(private readonly parts: KinesisGateParts) {}

  readonly pass: Gate = (call, forward) => {
    const { operation } = call;
    if (operation === 'PutRecords') return this.putRecords(call, forward);
    if (operation === 'PutRecord') return this.putRecord(call, forward);
    if (operation === 'GetRecords') return this.getRecords(call, forward);
    return this.control(call, forward);
  };

  private async putRecords({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    if (!Array.isArray(input.Records)) return forward(input);
    const entries: Entry[] = input.Records;
    if (this.parts.limits !== undefined && entries.length > MAX_REQUEST_RECORDS) {
      return refusal(
        'ValidationException',
        `a request has at most ${MAX_REQUEST_RECORDS} records, got ${entries.length}`,
      );
    }
    const streamName = streamOf(input);
    const shardIds = await Promise.all(entries.map((entry) => this.parts.shards.shardOf(streamName, entry)));
    const refused = entries.map((entry, index) => this.refusalOf(streamName, entry, shardIds[index]));
    const admitted = entries.filter((_, index) => refused[index] === undefined);
    let stored: { ShardId?: string; ErrorCode?: string }[] = [];
    if (admitted.length > 0) {
      const answer = await forward({ ...input, Records: admitted });
      if (answer.status !== 200) return answer;
      stored = answer.output.Records;
    }
    let next = 0;
    const results = refused.map((refusedResult) => refusedResult ?? stored[next++]!);
    for (const [index, { ErrorCode }] of results.entries()) {
      if (typeof ErrorCode !== 'string') this.note(streamName, entries[index]!, shardIds[index], false);
    }
    // If the record is on another shard than expected, the stream was resharded, so the gate must list its shards
    // again.
    if (results.some(({ ShardId }, index) => typeof ShardId === 'string' && ShardId !== shardIds[index])) {
      this.parts.shards.forget(streamName);
    }
    const FailedRecordCount = results.filter(({ ErrorCode }) => typeof ErrorCode === 'string').length;
    return { status: 200, output: { FailedRecordCount, Records: results } };
  }

  private async putRecord({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const streamName = streamOf(input);
    const shardId = await this.parts.shards.shardOf(streamName, input);
    const refused = this.refusalOf(streamName, input, shardId);
    if (refused !== undefined) return refusal(refused.ErrorCode, refused.ErrorMessage);
    const answer = await forward(input);
    if (answer.status !== 200) return answer;
    this.note(streamName, input, shardId, false);
    if (answer.output.ShardId !== shardId) this.parts.shards.forget(streamName);
    return answer;
  }

  /**
   * The error of a record whose shard throttles it. A record without a shard passes, because the emulator rejects the
   * record.
   */
  private refusalOf(
    streamName: string,
    entry: Entry,
    shardId: string | undefined,
  ): { ErrorCode: string; ErrorMessage: string; ShardId?: undefined } | undefined {
    if (shardId === undefined) return undefined;
    if (this.parts.limits?.takeRecord({ streamName, shardId }, recordBytes(entry)) !== false) return undefined;
    this.note(streamName, entry, shardId, true);
    return { ErrorCode: THROTTLED, ErrorMessage: `Rate exceeded for shard ${shardId} in stream ${streamName}.` };
  }

  /** Counts a record as stored or throttled. */
  private note(streamName: string, entry: Entry, shardId: string | undefined, isThrottled: boolean): void {
    if (shardId === undefined) return;
    const { PartitionKey, ExplicitHashKey } = entry;
    const counts = (place: string, name: string) =>
      this.parts.traffic.note(`${place} ${streamName}`, name, recordBytes(entry), isThrottled);
    counts('shards', shardId);
    counts('keys', JSON.stringify([PartitionKey, ExplicitHashKey ?? null]));
    if (ExplicitHashKey !== undefined) counts('hash keys', ExplicitHashKey);
  }

  private async getRecords({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const { limits } = this.parts;
    const shard = this.iterators.get(input.ShardIterator);
    if (shard !== undefined && limits?.takeRead(shard) === false) {
      return refusal(THROTTLED, `Rate exceeded for shard ${shard.shardId} in stream ${shard.streamName}.`);
    }
    const answer = await forward(input);
    if (shard === undefined || answer.status !== 200) return answer;
    const { Records = [], NextShardIterator } = answer.output;
    const bytes = Records.reduce((sum: number, record: Entry) => sum + dataBytes(record), 0);
    limits?.noteRead(shard, bytes);
    this.remember(NextShardIterator, shard);
    return answer;
  }

  private async control({ operation, input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const { limits, shards } = this.parts;
    const resource: KinesisResource = { streamName: streamOf(input), shardId: input.ShardId };
    if (limits?.takeCall(operation, resource) === false) {
      return refusal('LimitExceededException', `Rate exceeded for ${operation}.`);
    }
    const answer = await forward(input);
    if (RESHARDS.includes(operation)) this.resharding.add(resource.streamName!);
    // The shards change until the stream is active again.
    const description = answer.output.StreamDescriptionSummary ?? answer.output.StreamDescription;
    if (this.resharding.has(resource.streamName!)) shards.forget(resource.streamName!);
    if (description?.StreamStatus === 'ACTIVE') this.resharding.delete(resource.streamName!);
    if (operation === 'GetShardIterator') this.remember(answer.output.ShardIterator, resource);
    return answer;
  }

  private remember(iterator: unknown, shard: KinesisResource): void {
    if (typeof iterator === 'string') this.iterators.set(iterator, shard);
  }
}

function dataBytes({ Data = '' }: Entry): number {
  return Buffer.byteLength(Data, 'base64');
}

function recordBytes(entry: Entry): number {
  return dataBytes(entry) + Buffer.byteLength(entry.PartitionKey ?? '');
}

function streamOf({ StreamName, StreamARN }: { StreamName?: string; StreamARN?: string }): string {
  return StreamName ?? StreamARN?.split(':stream/')[1] ?? '';
}
