import type { IConstruct } from 'constructs';
import { constructField, Props } from '../construct/props';
import type { ShardFormat } from '../core/sharding/shard-format';

/**
 * The first shard number of an index or a table, and how shards are written. Set these options if the table already
 * uses another format: for example numbers from 1, a hyphen, two digits, or the shard before the value. Do not change
 * these options while the table has items, because existing items keep their shards.
 */
export interface ShardFormatOptions {
  /**
   * The number of the first shard, an integer of at least 0. The other shards have the next numbers.
   *
   * @default 0
   */
  readonly firstShard?: number;

  /**
   * The text between the value and the shard, if one attribute holds both. It must not contain a digit. If the attribute is the
   * key of a table, no value may contain this text.
   *
   * @default "#"
   */
  readonly separator?: string;

  /**
   * The minimum number of digits of a shard, from 1 to 10, if one attribute holds the value and the shard. With 2, shard 7 is
   * `07`.
   *
   * @default 1
   */
  readonly shardWidth?: number;

  /**
   * Whether the shard is before or after the value, if one attribute holds both.
   *
   * @default ShardPlacement.SUFFIX
   */
  readonly shardPlacement?: ShardPlacement;
}

/** Whether the shard is before or after the value, if one attribute holds both. */
export enum ShardPlacement {
  /** After the value, such as `open#3`. */
  SUFFIX = 'suffix',

  /** Before the value, such as `3#open`. */
  PREFIX = 'prefix',
}

/**
 * The properties of the shard format that the options set.
 *
 * @param prefix the prefix of property names in errors
 * @throws InvalidArgumentError for a number that is a token
 */
export function shardFormatFrom(construct: IConstruct, prefix: string, options: ShardFormatOptions): ShardFormat {
  const props = Props.named(constructField(construct, prefix), options);
  const [firstShard, shardWidth] = [
    props.resolved('firstShard', 'a whole number'),
    props.resolved('shardWidth', 'a whole number'),
  ];
  const { separator, shardPlacement } = options;
  return {
    ...(firstShard !== undefined && { firstShard }),
    ...(separator !== undefined && { separator }),
    ...(shardWidth !== undefined && { shardWidth }),
    ...(shardPlacement !== undefined && { shardPlacement: `${shardPlacement}` as const }),
  };
}
