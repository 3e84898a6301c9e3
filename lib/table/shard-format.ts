import type { IConstruct } from 'constructs';
import { constructField, Props } from '../construct/props';
import type { ShardFormat } from '../core/sharding/shard-format';

/**
 * Which numbers the shards of an index or a table have, and how they are written. Say it where others have chosen already: from 1,
 * with a hyphen, in two digits, or before the value. It cannot change while there are items: their shards keep their numbers.
 */
export interface ShardFormatOptions {
  /**
   * The number of the first shard, a whole number of at least 0. The others follow.
   *
   * @default 0
   */
  readonly firstShard?: number;

  /**
   * What stands between the value and the shard, where one attribute holds both: a text without digits. In the key of a table,
   * no value contains it.
   *
   * @default "#"
   */
  readonly separator?: string;

  /**
   * How many digits the number of a shard has at least, from 1 to 10, where it stands beside a value: with 2, shard 7 is `07`.
   *
   * @default 1
   */
  readonly shardWidth?: number;

  /**
   * On which side of the value the shard stands, where one attribute holds both.
   *
   * @default ShardPlacement.SUFFIX
   */
  readonly shardPlacement?: ShardPlacement;
}

/** On which side of the value the shard stands, where one attribute holds both. */
export enum ShardPlacement {
  /** Behind it, such as `open#3`. */
  SUFFIX = 'suffix',

  /** Before it, such as `3#open`. */
  PREFIX = 'prefix',
}

/**
 * What options say of the numbers of shards, where they say something.
 *
 * @param prefix of the properties in errors
 * @throws InvalidArgumentError for a number that is a token
 */
export function givenShardFormat(construct: IConstruct, prefix: string, options: ShardFormatOptions): ShardFormat {
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
