import {
  EARLIER_COUNTS_EXPIRE_AFTER_MS,
  MAX_COUNT_AGE_MS,
  REFRESH_AFTER_MS,
} from '../../../lib/core/adaptive-counts/count-age';
import {
  nextShardCount,
  type ValueSituation,
  type WriteMinute,
} from '../../../lib/core/adaptive-counts/next-shard-count';
import { HeatedIndex, type HeatedIndexOptions, noWrites, type Outcome, type ValueLoad } from './heated-index';

export interface AdaptiveIndexOptions extends HeatedIndexOptions {
  readonly minutes: number;
  /** The write units per second that the writers of each value need. */
  readonly demand: Readonly<Record<string, (minute: number) => number>>;
  readonly initial: number;
  readonly maximum?: number;
}

interface SimulatedMinute {
  readonly wanted: number;
  readonly throttled: number;
  /** The number of shards that readers query for each value. */
  readonly asked: Readonly<Record<string, number>>;
}

interface SimulatedIndex {
  readonly minutes: readonly SimulatedMinute[];
  readonly increases: number;
}

/**
 * Writers read the counts again when their cached counts have the age `REFRESH_SECONDS`. No process uses a cached count that is
 * older than `COPY_SECONDS`.
 */
const REFRESH_SECONDS = REFRESH_AFTER_MS / 1_000;
const COPY_SECONDS = MAX_COUNT_AGE_MS / 1_000;

/** The average delay from the end of a minute to the next run of the controller, which runs every minute. */
const LOOK_SECONDS = 30;

/** The time between the increase of the read count and the increase of the write count. */
const WAIT_SECONDS = EARLIER_COUNTS_EXPIRE_AFTER_MS / 1_000;

interface SimulatedValue {
  readonly name: string;
  before: number;
  shards: number;
  /** The second at which writers start to use `shards`. */
  increasedAt: number;
  readonly seen: WriteMinute[];
}

/**
 * Simulates an index, minute by minute. The policy of the library determines the shard counts. The controller sees the reports of
 * writers at the end of a minute.
 */
export function simulateAdaptiveIndex(options: AdaptiveIndexOptions): SimulatedIndex {
  const { minutes, demand, initial, maximum = 100 } = options;
  const index = new HeatedIndex(options);
  const values = Object.keys(demand).map(
    (name): SimulatedValue => ({
      name,
      before: initial,
      shards: initial,
      increasedAt: Number.NEGATIVE_INFINITY,
      seen: [],
    }),
  );
  const simulated: SimulatedMinute[] = [];
  let increases = 0;

  for (let minute = 0; minute < minutes; minute += 1) {
    const end = minute + 1;
    const totals = values.map(noWrites);
    for (let second = minute * 60; second < end * 60; second += 1) {
      const loads = values.map((value) => loadOf(value, demand[value.name]!(minute), second));
      for (const [at, outcome] of index.second(loads).entries()) add(totals[at]!, outcome);
    }
    index.endMinute();
    simulated.push({
      wanted: totals.reduce((sum, { wanted }) => sum + wanted, 0),
      throttled: totals.reduce((sum, { throttled }) => sum + throttled, 0),
      asked: Object.fromEntries(values.map(({ name, shards }) => [name, shards])),
    });

    for (const [at, { seen }] of values.entries()) {
      const { wanted, throttled } = totals[at]!;
      if (throttled > 0) seen.push({ start: minute * 60_000, admitted: wanted - throttled, throttled });
    }
    for (const value of values) {
      if (end * 60 < value.increasedAt + COPY_SECONDS) continue;
      const { decision, shards } = nextShardCount(situationOf(value, end, maximum));
      if (decision !== 'increase') continue;
      increases += 1;
      Object.assign(value, { before: value.shards, shards, increasedAt: end * 60 + LOOK_SECONDS + WAIT_SECONDS });
    }
  }
  return { minutes: simulated, increases };
}

/** Writers start to use a count one after the other, because their cached counts have different ages. */
function loadOf({ name, shards, before, increasedAt }: SimulatedValue, units: number, second: number): ValueLoad {
  const part = Math.max(0, Math.min(1, (second - increasedAt) / REFRESH_SECONDS));
  const writers = [
    { part, shards },
    { part: 1 - part, shards: before },
  ];
  return { value: name, units, writers: writers.filter(({ part: some }) => some > 0) };
}

function situationOf({ shards, seen, increasedAt }: SimulatedValue, minute: number, maximum: number): ValueSituation {
  return {
    shards,
    maximum,
    minutes: seen.slice(-30),
    since: (increasedAt + COPY_SECONDS) * 1_000,
    now: minute * 60_000,
  };
}

function add(total: Outcome, outcome: Outcome): void {
  total.wanted += outcome.wanted;
  total.throttled += outcome.throttled;
  total.accepted += outcome.accepted;
  total.refusedAttempts += outcome.refusedAttempts;
}
