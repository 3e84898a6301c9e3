import { RecentMap } from '../foundation/recent-map';
import type { Place } from './place';

/** Few sources write a key at a time: the producers of the moment, and one or two shards. */
const MOST_SERIES = 32;

/** The highest number of each series, for the series that were written last. */
export function raised(past: Record<string, string>, places: readonly Place[]): Record<string, string> {
  const entries = new Map(Object.entries(past));
  for (const { series, number } of places) {
    const before = entries.get(series);
    entries.delete(series);
    entries.set(series, before !== undefined && before > number ? before : number);
  }
  return Object.fromEntries([...entries].slice(-MOST_SERIES));
}

/** Whether the consumer has gone past one of the places. */
export function isPast(past: Record<string, string>, places: readonly Place[]): boolean {
  return places.some(({ series, number }) => Object.hasOwn(past, series) && number <= past[series]!);
}

/** The places whose effects this process has seen, for the keys that it has seen last. */
export class PassedPlaces {
  /** The highest place of each series. Most keys have one or two, and searching them takes less time than building a map. */
  private readonly keys: RecentMap<string, Place[]>;

  constructor(maxKeys: number) {
    this.keys = new RecentMap(maxKeys);
  }

  has(partitionKey: string, places: readonly Place[]): boolean {
    const highest = this.keys.get(partitionKey);
    if (highest === undefined) return false;
    return places.some((place) =>
      highest.some(({ series, number }) => series === place.series && place.number <= number),
    );
  }

  add(partitionKey: string, places: readonly Place[]): void {
    const highest = this.keys.get(partitionKey) ?? [];
    for (const place of places) raise(highest, place);
    this.keys.set(partitionKey, highest);
  }
}

/** The place that was raised last is at the end. */
function raise(highest: Place[], place: Place): void {
  const index = highest.findIndex(({ series }) => series === place.series);
  const [before = place] = index < 0 ? [] : highest.splice(index, 1);
  highest.push(before.number > place.number ? before : place);
  if (highest.length > MOST_SERIES) highest.shift();
}
