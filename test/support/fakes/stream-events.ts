import type { ShardRecord, StreamEvent } from '../../../lib/core/consumer';

/** The stream of the records if a test does not choose another stream. */
export const SOURCE = 'arn:aws:kinesis:us-east-1:111122223333:stream/orders';

/** The event with a batch of records, as the event source mapping of Lambda sends it. */
export function kinesisEvent(records: readonly ShardRecord[], source = SOURCE): StreamEvent {
  return {
    Records: records.map(({ shardId, partitionKey, sequenceNumber, data }) => ({
      eventSource: 'aws:kinesis',
      eventSourceARN: source,
      eventID: `${shardId}:${sequenceNumber}`,
      kinesis: { partitionKey, sequenceNumber, data: Buffer.from(data).toString('base64') },
    })),
  };
}

/** Records of one shard with ascending sequence numbers. The record "a1" has the partition key "a". */
export function shardOf(texts: readonly string[], { shardId = 'shardId-000000000000', from = 1 } = {}): ShardRecord[] {
  return texts.map((text, index) => ({
    shardId,
    partitionKey: text[0]!,
    sequenceNumber: String(from + index),
    data: Buffer.from(text),
  }));
}

export function textOf({ data }: { data: Uint8Array }): string {
  return Buffer.from(data).toString();
}
