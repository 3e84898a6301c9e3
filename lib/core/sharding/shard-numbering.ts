/** Which numbers the shards of an index or a table have, and how these are written. */
export interface ShardNumbering {
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

/** The numbering of a configuration that says nothing about it. */
const USUAL_NUMBERING = { firstShard: 0, separator: SHARD_SEPARATOR, shardWidth: 1, shardPlacement: 'suffix' } as const;

/** The numbering of a configuration, with its defaults filled in. */
export function numberingOf(config: ShardNumbering): Required<ShardNumbering> {
  const names = Object.keys(USUAL_NUMBERING) as (keyof ShardNumbering)[];
  const partOf = (name: keyof ShardNumbering) => (config[name] === undefined ? USUAL_NUMBERING[name] : config[name]);
  return Object.fromEntries(names.map((name) => [name, partOf(name)])) as never;
}

/** What is allowed for each part of a numbering. */
export const ALLOWED_NUMBERING = {
  firstShard: 'a whole number of at least 0',
  separator: 'a text without digits that is not empty',
  shardWidth: 'a whole number from 1 to 10',
  shardPlacement: 'suffix or prefix',
} as const satisfies Record<keyof ShardNumbering, string>;

/** The first part of a numbering with which shards cannot be written and read back; undefined if there is none. */
export function wrongPartOf(numbering: ShardNumbering): keyof ShardNumbering | undefined {
  const { firstShard, separator, shardWidth, shardPlacement } = numberingOf(numbering);
  if (!Number.isSafeInteger(firstShard) || firstShard < 0) return 'firstShard';
  if (typeof separator !== 'string' || separator === '' || /\d/.test(separator)) return 'separator';
  if (!Number.isInteger(shardWidth) || shardWidth < 1 || shardWidth > 10) return 'shardWidth';
  return ['suffix', 'prefix'].includes(shardPlacement) ? undefined : 'shardPlacement';
}

/** A shard beside its value, such as `open#3`. */
export function besideValue(numbering: ShardNumbering, value: string, shard: number): string {
  const { separator = SHARD_SEPARATOR, shardPlacement } = numbering;
  const digits = shardDigits(numbering, shard);
  return shardPlacement === 'prefix' ? `${digits}${separator}${value}` : `${value}${separator}${digits}`;
}

/** The number of a shard as it is written beside a value. */
export function shardDigits({ shardWidth = 1 }: ShardNumbering, shard: number): string {
  return String(shard).padStart(shardWidth, '0');
}
