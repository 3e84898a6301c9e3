import { RecentMap } from '../kernel/recent-map';
import type { SequencePosition } from './sequence-position';

/**
 * The maximum number of series (see `SequencePosition`) that are kept for a key. A key usually has fewer series: one for each
 * current producer, and one for each shard that the key uses (one or two shards).
 */
const MAX_SERIES = 32;

/** For each series, the highest number in `before` and `positions`. Only the most recent series are kept. */
export function highestNumbers(
  before: Record<string, string>,
  positions: readonly SequencePosition[],
): Record<string, string> {
  const entries = new Map(Object.entries(before));
  for (const { series, number } of positions) {
    const highest = entries.get(series);
    entries.delete(series);
    entries.set(series, highest !== undefined && highest > number ? highest : number);
  }
  return Object.fromEntries([...entries].slice(-MAX_SERIES));
}

/** Whether one of the positions is equal to or below the highest number of its series. */
export function isCovered(highest: Record<string, string>, positions: readonly SequencePosition[]): boolean {
  return positions.some(({ series, number }) => Object.hasOwn(highest, series) && number <= highest[series]!);
}

/** The name of a series. All keys with positions in the series share this object. */
interface Series {
  readonly name: string;
  keys: number;
}

/** The maximum memory for the handled positions, in bytes. The sizes below are estimates of the memory that V8 needs. */
const MAX_BYTES = 32_000_000;
const KEY_BYTES = 200;
const POSITION_BYTES = 110;
const SERIES_BYTES = 160;

/**
 * Remembers the handled positions of the most recent keys of this process. Both the number of keys and the number of bytes are
 * limited, because a key with many short-lived producers has many series.
 */
export class HandledPositions {
  /**
   * For each key, the highest number of each of its series. Series and numbers alternate in the array, and the most recent series
   * comes last. Most keys have one or two series, so a search in an array takes less time than a map.
   */
  private readonly keys: RecentMap<string, (Series | string)[]>;
  private readonly series = new Map<string, Series>();
  private bytes = 0;

  constructor(
    private readonly maxKeys: number,
    private readonly maxBytes = MAX_BYTES,
  ) {
    // `RecentMap` gets no limit here: this class counts bytes too, so it removes keys itself.
    this.keys = new RecentMap(Number.POSITIVE_INFINITY);
  }

  has(partitionKey: string, positions: readonly SequencePosition[]): boolean {
    const highest = this.keys.get(partitionKey);
    return highest !== undefined && positions.some((position) => isAtMost(position, highest));
  }

  add(partitionKey: string, positions: readonly SequencePosition[]): void {
    const before = this.keys.get(partitionKey);
    let highest = before ?? [];
    if (before === undefined) this.bytes += KEY_BYTES + 2 * partitionKey.length;
    for (const position of positions) highest = this.withPosition(highest, position);
    this.keys.set(partitionKey, highest);
    while (this.keys.size > this.maxKeys || (this.bytes > this.maxBytes && this.keys.size > 1)) this.forgetOldest();
  }

  private withPosition(highest: (Series | string)[], { series: name, number }: SequencePosition): (Series | string)[] {
    const at = indexOf(highest, name);
    if (at < 0) {
      const isFull = highest.length === 2 * MAX_SERIES;
      if (isFull) this.releaseSeries(highest[0] as Series, highest[1] as string);
      return [...(isFull ? highest.slice(2) : highest), this.useSeries(name, number), number];
    }
    const series = highest[at]!;
    const before = highest[at + 1] as string;
    highest.copyWithin(at, at + 2);
    highest[highest.length - 2] = series;
    highest[highest.length - 1] = before > number ? before : number;
    return highest;
  }

  private useSeries(name: string, number: string): Series {
    let series = this.series.get(name);
    if (series === undefined) {
      series = { name, keys: 0 };
      this.series.set(name, series);
      this.bytes += SERIES_BYTES + 2 * name.length;
    }
    series.keys += 1;
    this.bytes += POSITION_BYTES + number.length;
    return series;
  }

  private releaseSeries(series: Series, number: string): void {
    series.keys -= 1;
    this.bytes -= POSITION_BYTES + number.length;
    if (series.keys > 0) return;
    this.series.delete(series.name);
    this.bytes -= SERIES_BYTES + 2 * series.name.length;
  }

  private forgetOldest(): void {
    const [partitionKey, highest] = this.keys.shift()!;
    this.bytes -= KEY_BYTES + 2 * partitionKey.length;
    for (let at = 0; at < highest.length; at += 2) this.releaseSeries(highest[at] as Series, highest[at + 1] as string);
  }
}

function indexOf(highest: readonly (Series | string)[], name: string): number {
  for (let at = 0; at < highest.length; at += 2) if ((highest[at] as Series).name === name) return at;
  return -1;
}

function isAtMost({ series, number }: SequencePosition, highest: readonly (Series | string)[]): boolean {
  const at = indexOf(highest, series);
  return at >= 0 && number <= (highest[at + 1] as string);
}
