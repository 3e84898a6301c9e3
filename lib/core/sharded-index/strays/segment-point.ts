import { createHash } from 'node:crypto';
import type { DynamoDbItem } from '../../foundation/attribute-value';
import { InvalidCursorError } from '../../foundation/fan-out/fan-out-errors';
import { isTableConfig, type ShardedConfig } from '../config/sharded-index-config';
import type { SortableValue } from '../query/attribute-order';
import { decodeValue, encodeValue } from '../query/cursor';

/** What a resume point belongs to. */
export interface ScannedSegment {
  /** What is done with the strays. */
  purpose: 'find' | 'reshard';
  segment: number;
  totalSegments: number;
}

const VERSION = 1;
const CHECKSUM_BYTES = 16;

/**
 * A text from which a later call goes on behind the item with this table key, or from the beginning without a key.
 *
 * @param config by which items were judged
 */
export function encodePoint(scanned: ScannedSegment, config: ShardedConfig, key: DynamoDbItem | undefined): string {
  const values = key && config.tableKey.map((name) => encodeValue(key[name] as SortableValue));
  const payload = JSON.stringify([VERSION, ...(values ?? [])]);
  return Buffer.concat([checksum(scanned, config, payload), Buffer.from(payload)]).toString('base64url');
}

/** @throws InvalidCursorError if the text was altered, or belongs to another scan, index, shard count or segment */
export function decodePoint(scanned: ScannedSegment, config: ShardedConfig, text: unknown): DynamoDbItem | undefined {
  if (text === undefined) return undefined;
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64url');
  const payload = bytes.subarray(CHECKSUM_BYTES).toString();
  const sum = bytes.subarray(0, CHECKSUM_BYTES);
  if (bytes.toString('base64url') !== text || !sum.equals(checksum(scanned, config, payload))) {
    const allowed = 'the unaltered resumePoint of the same function, index, shard counts and segment';
    throw new InvalidCursorError('resumeFrom', text, allowed);
  }
  const [, ...values] = JSON.parse(payload) as [number, ...string[]];
  if (values.length === 0) return undefined;
  return Object.fromEntries(config.tableKey.map((name, index) => [name, decodeValue(values[index]!)]));
}

/** An item that was judged by other counts must be judged again, so the checksum covers all that decides a shard. */
function checksum({ purpose, segment, totalSegments }: ScannedSegment, config: ShardedConfig, payload: string): Buffer {
  const { tableName, indexName, tableKey, keyLayout, valueAttribute, shardAttribute, shards, strategy } = config;
  const { firstShard, separator, shardWidth, shardPlacement } = config;
  const counts = [shards.default, ...sortedEntries(shards.byValue).flat()].map((each) =>
    typeof each === 'string' ? each : [each.write, each.read, ...(each.since === undefined ? [] : [each.since])],
  );
  const judged = [
    tableName,
    indexName,
    tableKey,
    keyLayout,
    valueAttribute,
    shardAttribute,
    counts,
    strategy,
    isTableConfig(config) ? config.shardedBy : [],
    [firstShard, separator, shardWidth, shardPlacement],
  ];
  const text = JSON.stringify([purpose, judged, segment, totalSegments, payload]);
  return createHash('sha256').update(text).digest().subarray(0, CHECKSUM_BYTES);
}

function sortedEntries<V>(map: Record<string, V> = {}): [string, V][] {
  return Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
}
