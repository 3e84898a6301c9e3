/** The writes to one shard, or to one partition key of a table or an index. */
export interface Load {
  /** The number of records or writes. */
  count: number;
  /** The sum of bytes or write units. */
  amount: number;
  throttled: number;
}

const NOTHING: Load = { count: 0, amount: 0, throttled: 0 };

/**
 * A place keeps at most this many names. The names with the least load are removed, because the local console shows the
 * names with the most load.
 */
const MAX_NAMES = 20_000;

/**
 * Counts passed and throttled records and writes since the start. A place is a stream, a table or an index. A name is
 * a shard of a stream, or a partition key of a table or an index.
 */
export class Traffic {
  private readonly places = new Map<string, Map<string, Load>>();
  /** The sums over all names, including removed names. */
  private readonly totals = new Map<string, Load>();

  note(place: string, name: string, amount: number, isThrottled: boolean): void {
    const loads = this.places.get(place) ?? new Map<string, Load>();
    this.places.set(place, loads);
    if (!loads.has(name) && loads.size >= MAX_NAMES) forgetQuietest(loads);
    const load = loads.get(name) ?? { ...NOTHING };
    loads.set(name, load);
    const total = this.totals.get(place) ?? { ...NOTHING };
    this.totals.set(place, total);
    for (const each of [load, total]) {
      if (isThrottled) each.throttled += 1;
      else {
        each.count += 1;
        each.amount += amount;
      }
    }
  }

  /** The loads of all names of a place, by name. */
  of(place: string): ReadonlyMap<string, Readonly<Load>> {
    return this.places.get(place) ?? new Map();
  }

  /** The sum of all loads of a place. */
  total(place: string): Readonly<Load> {
    return this.totals.get(place) ?? NOTHING;
  }

  /** The number of throttled records or writes, in all places whose names begin with this prefix. */
  throttled(prefix: string): number {
    let throttled = 0;
    for (const [place, load] of this.totals) if (place.startsWith(prefix)) throttled += load.throttled;
    return throttled;
  }
}

function forgetQuietest(loads: Map<string, Load>): void {
  const quietestFirst = [...loads].sort(([, a], [, b]) => a.count + a.throttled - (b.count + b.throttled));
  for (const [name] of quietestFirst.slice(0, loads.size / 2)) loads.delete(name);
}
