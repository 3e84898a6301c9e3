import { isText, isWhole } from '../kernel/checks';
/** The numbers of the shards of an index or a table, and how they are written. */
export interface ShardFormat {
  /**
   * The number of the first shard, an integer of at least 0.
   * @default 0
   */
  firstShard?: number;
  /**
   * The text between the value and the shard, if one attribute holds both. This text must not contain a digit.
   * @default '#'
   */
  separator?: string;
  /**
   * The minimum number of digits of a shard number, from 1 to 10, if one attribute holds the value and the shard. With 2, shard
   * 7 is written as `07`.
   * @default 1
   */
  shardWidth?: number;
  /**
   * The position of the shard if one attribute holds the value and the shard: `suffix`, as in `open#3`, or `prefix`, as
   * in `3#open`.
   * @default 'suffix'
   */
  shardPlacement?: 'suffix' | 'prefix';
}

/** The default separator of value and shard. */
export const SHARD_SEPARATOR = '#';

/** The default shard format. */
const USUAL_SHARD_FORMAT = {
  firstShard: 0,
  separator: SHARD_SEPARATOR,
  shardWidth: 1,
  shardPlacement: 'suffix',
} as const;

/** The shard format of a configuration, including defaults. */
export function shardFormatOf(config: ShardFormat): Required<ShardFormat> {
  const names = Object.keys(USUAL_SHARD_FORMAT) as (keyof ShardFormat)[];
  const partOf = (name: keyof ShardFormat) => (config[name] === undefined ? USUAL_SHARD_FORMAT[name] : config[name]);
  return Object.fromEntries(names.map((name) => [name, partOf(name)])) as never;
}

/** The allowed values of each part of a shard format, for messages. */
export const ALLOWED_SHARD_FORMAT = {
  firstShard: 'a whole number of at least 0',
  separator: 'a non-empty text without digits',
  shardWidth: 'a whole number from 1 to 10',
  shardPlacement: 'suffix or prefix',
} as const satisfies Record<keyof ShardFormat, string>;

/** The first invalid part of a shard format, or undefined. */
export function wrongPartOf(shardFormat: ShardFormat): keyof ShardFormat | undefined {
  const { firstShard, separator, shardWidth, shardPlacement } = shardFormatOf(shardFormat);
  if (!isWhole(firstShard, 0)) return 'firstShard';
  if (!isText(separator) || /\d/.test(separator)) return 'separator';
  if (!isWhole(shardWidth, 1, 10)) return 'shardWidth';
  return ['suffix', 'prefix'].includes(shardPlacement) ? undefined : 'shardPlacement';
}

/** The text of a value and its shard, such as `open#3`. */
export function besideValue(shardFormat: ShardFormat, value: string, shard: number): string {
  const { separator = SHARD_SEPARATOR, shardPlacement } = shardFormat;
  const digits = shardDigits(shardFormat, shard);
  return shardPlacement === 'prefix' ? `${digits}${separator}${value}` : `${value}${separator}${digits}`;
}

/** The digits of a shard number in the text of a value and its shard. */
export function shardDigits({ shardWidth = 1 }: ShardFormat, shard: number): string {
  return String(shard).padStart(shardWidth, '0');
}
