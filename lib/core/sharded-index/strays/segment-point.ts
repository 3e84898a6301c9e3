import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { openedText } from '../../fan-out/sealed-cursor';
import { sealedText } from '../../kernel/sealed-text';
import type { ShardCount, ShardedConfig, ShardedTableConfig } from '../config/sharded-index-config';
import type { SortableValue } from '../query/attribute-order';
import { decodeValue, encodeValue, isEncodedValue, sortedEntries } from '../query/cursor';

/** The scan to which a resume point belongs. */
export interface ScannedSegment {
  /** Whether the scan reports strays or moves them. */
  purpose: 'find' | 'reshard';
  segment: number;
  totalSegments: number;
}

const LAYOUT = 'segment 2';

/**
 * Encodes a resume point, from which a later call continues after this table key. Without a key, the later call begins
 * at the beginning of the segment.
 *
 * @param config the configuration that determined the strays
 */
export function encodePoint(scanned: ScannedSegment, config: ShardedConfig, key: DynamoDbItem | undefined): string {
  const values = key === undefined ? [] : config.tableKey.map((name) => encodeValue(key[name] as SortableValue));
  return sealedText(scopeOf(scanned, config), values);
}

/** @throws InvalidCursorError if the text was altered, or belongs to another scan, index, shard count or segment */
export function decodePoint(scanned: ScannedSegment, config: ShardedConfig, text: unknown): DynamoDbItem | undefined {
  if (text === undefined) return undefined;
  const allowed = 'the unaltered resumePoint of the same function, index, shard counts and segment';
  const values = openedText('resume point', 'resumeFrom', text, allowed, scopeOf(scanned, config), (value) => {
    const encoded = value as string[];
    return [0, config.tableKey.length].includes(encoded.length) && encoded.every(isEncodedValue) ? encoded : undefined;
  });
  if (values.length === 0) return undefined;
  return Object.fromEntries(config.tableKey.map((name, index) => [name, decodeValue(values[index]!)]));
}

/**
 * The scan, and all settings that determine the shard of an item. If one of them changes, items must be checked again,
 * so the resume point is no longer valid.
 */
function scopeOf({ purpose, segment, totalSegments }: ScannedSegment, config: ShardedConfig): unknown {
  const { tableName, indexName, tableKey, keyLayout, valueAttribute, shardAttribute, shards, strategy } = config;
  const { firstShard, separator, shardWidth, shardPlacement } = config;
  const { shardedBy } = config as Partial<ShardedTableConfig>;
  const numbers = ({ write, read, since }: ShardCount) => [write, read, since];
  const byValue = sortedEntries(shards.byValue).map(([value, count]) => [value, numbers(count)]);
  const counts = [numbers(shards.default), byValue];
  const settings = [
    tableName,
    indexName,
    tableKey,
    keyLayout,
    valueAttribute,
    shardAttribute,
    counts,
    strategy,
    shardedBy,
    [firstShard, separator, shardWidth, shardPlacement],
  ];
  return [LAYOUT, purpose, settings, segment, totalSegments];
}
