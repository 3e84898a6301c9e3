/** What went into one shard, or to one partition key of a table or index. */
export interface Load {
  /** Records, or writes. */
  count: number;
  /** Bytes, or write units. */
  amount: number;
  throttled: number;
}

/** Beyond so many names of one place the quietest are forgotten: a window shows the busiest. */
const MOST_NAMES = 2_000;

/** What passed and what did not, since the start, by place and name: a stream's shards and keys, an index's keys. */
export class Traffic {
  private readonly places = new Map<string, Map<string, Load>>();

  note(place: string, name: string, amount: number, isThrottled: boolean): void {
    let loads = this.places.get(place);
    if (loads === undefined) {
      loads = new Map();
      this.places.set(place, loads);
    }
    let load = loads.get(name);
    if (load === undefined) {
      if (loads.size >= MOST_NAMES) forgetQuietest(loads);
      load = { count: 0, amount: 0, throttled: 0 };
      loads.set(name, load);
    }
    if (isThrottled) load.throttled += 1;
    else {
      load.count += 1;
      load.amount += amount;
    }
  }

  /** The loads of a place by name. */
  of(place: string): ReadonlyMap<string, Readonly<Load>> {
    return this.places.get(place) ?? new Map();
  }

  /** How many were throttled in all places whose name begins so. */
  throttled(prefix: string): number {
    let throttled = 0;
    for (const [place, loads] of this.places) {
      if (place.startsWith(prefix)) for (const load of loads.values()) throttled += load.throttled;
    }
    return throttled;
  }
}

function forgetQuietest(loads: Map<string, Load>): void {
  const quietestFirst = [...loads].sort(([, a], [, b]) => a.count + a.throttled - (b.count + b.throttled));
  for (const [name] of quietestFirst.slice(0, loads.size / 2)) loads.delete(name);
}
