import type { ShardRecord, StreamEvent } from '../../../lib/core/consumer';

/** The batch of a shard as Lambda's event source mapping gives it. */
export function kinesisEvent(records: readonly ShardRecord[]): StreamEvent {
  return {
    Records: records.map(({ shardId, partitionKey, sequenceNumber, data }) => ({
      eventSource: 'aws:kinesis',
      eventID: `${shardId}:${sequenceNumber}`,
      kinesis: { partitionKey, sequenceNumber, data: Buffer.from(data).toString('base64') },
    })),
  };
}

/** Records of one shard, "a1" with the key "a", numbered in their order. */
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
