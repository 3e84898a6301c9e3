/** Which numbers the shards of an index or a table have, and how these are written. */
export interface ShardFormat {
  /**
   * The number of the first shard, a whole number of at least 0. The others follow.
   * @default 0
   */
  firstShard?: number;
  /**
   * What stands between the value and the shard, where one attribute holds both. It holds no digit.
   * @default '#'
   */
  separator?: string;
  /**
   * How many digits the number of a shard has at least, from 1 to 10, where it stands beside a value: with 2, `7` is `07`.
   * @default 1
   */
  shardWidth?: number;
  /**
   * Where the shard stands beside a value: `suffix`, as in `open#3`, or `prefix`, as in `3#open`.
   * @default 'suffix'
   */
  shardPlacement?: 'suffix' | 'prefix';
}

/** Separates the value from the shard, unless a configuration says otherwise. */
export const SHARD_SEPARATOR = '#';

/** The shard format of a configuration that says nothing about it. */
const USUAL_SHARD_FORMAT = {
  firstShard: 0,
  separator: SHARD_SEPARATOR,
  shardWidth: 1,
  shardPlacement: 'suffix',
} as const;

/** The shard format of a configuration, with its defaults filled in. */
export function shardFormatOf(config: ShardFormat): Required<ShardFormat> {
  const names = Object.keys(USUAL_SHARD_FORMAT) as (keyof ShardFormat)[];
  const partOf = (name: keyof ShardFormat) => (config[name] === undefined ? USUAL_SHARD_FORMAT[name] : config[name]);
  return Object.fromEntries(names.map((name) => [name, partOf(name)])) as never;
}

/** What is allowed for each part of a shard format. */
export const ALLOWED_SHARD_FORMAT = {
  firstShard: 'a whole number of at least 0',
  separator: 'a text without digits that is not empty',
  shardWidth: 'a whole number from 1 to 10',
  shardPlacement: 'suffix or prefix',
} as const satisfies Record<keyof ShardFormat, string>;

/** The first part of a shard format with which shards cannot be written and read back; undefined if there is none. */
export function wrongPartOf(shardFormat: ShardFormat): keyof ShardFormat | undefined {
  const { firstShard, separator, shardWidth, shardPlacement } = shardFormatOf(shardFormat);
  if (!Number.isSafeInteger(firstShard) || firstShard < 0) return 'firstShard';
  if (typeof separator !== 'string' || separator === '' || /\d/.test(separator)) return 'separator';
  if (!Number.isInteger(shardWidth) || shardWidth < 1 || shardWidth > 10) return 'shardWidth';
  return ['suffix', 'prefix'].includes(shardPlacement) ? undefined : 'shardPlacement';
}

/** A shard beside its value, such as `open#3`. */
export function besideValue(shardFormat: ShardFormat, value: string, shard: number): string {
  const { separator = SHARD_SEPARATOR, shardPlacement } = shardFormat;
  const digits = shardDigits(shardFormat, shard);
  return shardPlacement === 'prefix' ? `${digits}${separator}${value}` : `${value}${separator}${digits}`;
}

/** The number of a shard as it is written beside a value. */
export function shardDigits({ shardWidth = 1 }: ShardFormat, shard: number): string {
  return String(shard).padStart(shardWidth, '0');
}
