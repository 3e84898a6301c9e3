import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { openedText } from '../../fan-out/sealed-cursor';
import { areCounts, sealedText } from '../../kernel/sealed-text';
import { MAX_INDEX_SHARDS } from '../../sharding/shard-count';
import type { ShardedConfig } from '../config/sharded-index-config';
import type { SortableValue } from './attribute-order';
import { decodeValue, encodeValue, isEncodedValue, positionAttributes, queryText } from './cursor';
import type { FanOutRequest } from './fan-out-request';
import type { IndexShard } from './index-shard';

const LAYOUT = 'progress 2';

type EncodedProgress = [begun: number[], keys: (readonly [number, ...string[]])[]];

/** How far each shard was read: up to a key, completely, or not at all. */
export class ReadProgress {
  /** For each value, the number of its shards that were begun. These are always the first shards of the value. */
  private readonly begun: number[] = [];
  /** The shards that were begun and not finished, and the last key that was read from each of these shards. */
  private readonly keys = new Map<number, DynamoDbItem | undefined>();

  isFinished({ number }: IndexShard): boolean {
    const value = Math.floor(number / MAX_INDEX_SHARDS);
    return number % MAX_INDEX_SHARDS < (this.begun[value] ?? 0) && !this.keys.has(number);
  }

  keyOf({ number }: IndexShard): DynamoDbItem | undefined {
    return this.keys.get(number);
  }

  readTo(number: number, key: DynamoDbItem): void {
    this.begin(number);
    this.keys.set(number, key);
  }

  finish(number: number): void {
    this.begin(number);
    this.keys.delete(number);
  }

  /**
   * Encodes the progress, so that a later call can continue. The text holds one key for each shard that was read in
   * part.
   */
  encode(config: ShardedConfig, request: FanOutRequest, part: unknown, shards: readonly IndexShard[]): string {
    const names = positionAttributes(config);
    const numbers = new Set(shards.map(({ number }) => number));
    const keys = [...this.keys]
      .filter(([number]) => numbers.has(number))
      .map(([number, key]) => {
        const values = key === undefined ? [] : names.map((name) => encodeValue(key[name] as SortableValue));
        return [number, ...values] as const;
      });
    const encoded: EncodedProgress = [this.begun, keys];
    return sealedText(scopeOf(config, request, part), encoded);
  }

  /** @throws InvalidCursorError if the text was altered or belongs to another query */
  static decode(
    field: string,
    text: unknown,
    config: ShardedConfig,
    request: FanOutRequest,
    part: unknown,
  ): ReadProgress {
    const progress = new ReadProgress();
    if (text === undefined) return progress;
    const names = positionAttributes(config);
    const allowed = 'the unaltered text that the same query returned';
    const [begun, keys] = openedText('resume point', field, text, allowed, scopeOf(config, request, part), (value) =>
      parsedProgress(names.length, value),
    );
    progress.begun.push(...begun);
    for (const [number, ...values] of keys) {
      const key = values.map((value, index) => [names[index]!, decodeValue(value)] as const);
      progress.keys.set(number, key.length === 0 ? undefined : Object.fromEntries(key));
    }
    return progress;
  }

  /**
   * Marks this shard and all earlier shards of its value as begun. An earlier shard that was not read yet has no key.
   */
  private begin(number: number): void {
    const value = Math.floor(number / MAX_INDEX_SHARDS);
    const first = value * MAX_INDEX_SHARDS;
    while (this.begun.length <= value) this.begun.push(0);
    for (let shard = first + this.begun[value]!; shard < number; shard++) this.keys.set(shard, undefined);
    this.begun[value] = Math.max(this.begun[value]!, number - first + 1);
  }
}

/** Identifies the query, and the part of its shards, to which a `ReadProgress` belongs. */
function scopeOf(config: ShardedConfig, request: FanOutRequest, part: unknown): unknown {
  return [LAYOUT, queryText(config, { ...request, order: 'unordered' }), part];
}

/** @returns undefined if the value is not an encoded `ReadProgress` */
function parsedProgress(attributes: number, value: unknown): EncodedProgress | undefined {
  const [begun, keys] = value as EncodedProgress;
  const isKey = ([number, ...values]: readonly [number, ...string[]]): boolean =>
    areCounts([number]) && [0, attributes].includes(values.length) && values.every(isEncodedValue);
  return areCounts(begun) && keys.every(isKey) ? [begun, keys] : undefined;
}
