import { RecentMap } from '../foundation/recent-map';
import type { Place } from './place';

/** A key is written by few sources at a time: producers of this moment, and one shard or two. */
const MOST_SERIES = 32;

/** The highest number of each series, of those that were written last. */
export function raised(past: Record<string, string>, places: readonly Place[]): Record<string, string> {
  const entries = new Map(Object.entries(past));
  for (const { series, number } of places) {
    const before = entries.get(series);
    entries.delete(series);
    entries.set(series, before !== undefined && before > number ? before : number);
  }
  return Object.fromEntries([...entries].slice(-MOST_SERIES));
}

/** Whether one of the places was passed. */
export function isPast(past: Record<string, string>, places: readonly Place[]): boolean {
  return places.some(({ series, number }) => Object.hasOwn(past, series) && number <= past[series]!);
}

/** What this process has seen take effect, for the keys that it has seen last. */
export class PassedPlaces {
  private readonly keys: RecentMap<string, RecentMap<string, string>>;

  constructor(maxKeys: number) {
    this.keys = new RecentMap(maxKeys);
  }

  has(partitionKey: string, places: readonly Place[]): boolean {
    const series = this.keys.get(partitionKey);
    return series !== undefined && places.some((place) => place.number <= (series.get(place.series) ?? ''));
  }

  add(partitionKey: string, places: readonly Place[]): void {
    const series = this.keys.get(partitionKey) ?? new RecentMap<string, string>(MOST_SERIES);
    for (const place of places)
      if (place.number > (series.get(place.series) ?? '')) series.set(place.series, place.number);
    this.keys.set(partitionKey, series);
  }
}
