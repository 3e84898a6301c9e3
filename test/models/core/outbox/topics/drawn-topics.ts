import { seededRandom } from '../../../../../lib/testing/seeded-random';

interface DrawnRow {
  readonly key: string;
  readonly topic?: string;
  readonly data: string;
}

export interface DrawnTransaction {
  readonly rows: readonly DrawnRow[];
  readonly ends: 'commit' | 'rollback';
}

/** The possible disturbances of a worker. */
export type Fate = 'crashes' | 'loses its locks' | 'is stopped';

/** The settings of a random case: topics, rejections, stops and workers. */
export interface DrawnPlay {
  readonly seed: number;
  readonly random: () => number;
  /** The topics that all workers have at the end. Empty if one stream has the rows of all topics. */
  readonly topics: readonly string[];
  /** A topic that only workers of a later deployment have. */
  readonly lateTopic?: string;
  readonly writers: readonly (readonly DrawnTransaction[])[];
  readonly ranges: number;
  readonly workers: number;
  /** The longest pause of a writer between two steps, in milliseconds. */
  readonly pauseMs: number;
  /** The longest duration of a statement of Postgres and of a request to Kinesis, in milliseconds. */
  readonly postgresMs: number;
  readonly kinesisMs: number;
  readonly relay: { batchRows: number; batchBytes: number; maxRowsInFlight: number; maxTries?: number };
  readonly aggregation: false | 'per-key' | 'packed';
  readonly maxAttempts: number;
  /** The probability of each fault: a request is lost, late or fails; a record fails; a record is rejected. */
  readonly faults: { request: number; failed: number; refused: number };
  /** The pause between two disturbances of workers, in milliseconds. Undefined if workers are not disturbed. */
  readonly fateEveryMs?: number;
  readonly fates: readonly Fate[];
}

export function drawnPlay(seed: number): DrawnPlay {
  const random = seededRandom(seed);
  const whole = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  const oneOf = <T>(...values: T[]): T => values[Math.floor(random() * values.length)]!;
  const topics = oneOf([], ['red'], ['red', 'blue'], ['red', 'blue', 'green']);
  const maxTries = oneOf(undefined, undefined, 1, 2);
  // A row without a topic has no stream, and would wait forever if the relay did not give it up.
  const drawn = topics.length > 0 && maxTries !== undefined ? [...topics, undefined] : topics;
  const keys = oneOf(1, 2, 3, 6);
  const poison = oneOf(0, 0, 0.05, 0.2);
  let rows = 0;
  const row = (): DrawnRow => ({
    key: `k${whole(1, keys)}`,
    topic: drawn[whole(0, drawn.length - 1)],
    data: `${random() < poison ? 'poison ' : ''}${++rows}`,
  });
  const transaction = (): DrawnTransaction => ({
    // Transactions with different lock orders would wait for each other.
    rows: Array.from({ length: oneOf(1, 1, 2, 4, 9) }, row).sort((a, b) => a.key.localeCompare(b.key)),
    ends: random() < 0.15 ? 'rollback' : 'commit',
  });
  return {
    seed,
    random,
    topics,
    ...(topics.length > 1 && random() < 0.3 && { lateTopic: topics[0] }),
    writers: Array.from({ length: whole(1, 4) }, () => Array.from({ length: whole(1, 8) }, transaction)),
    ranges: oneOf(1, 1, 2, 3),
    workers: oneOf(1, 2, 2),
    pauseMs: oneOf(0, 1, 10, 100),
    postgresMs: oneOf(1, 1, 5, 40),
    kinesisMs: oneOf(0, 1, 10, 80),
    relay: {
      batchRows: oneOf(1, 2, 3, 5, 100),
      batchBytes: oneOf(1, 4, 1_000_000),
      maxRowsInFlight: oneOf(1, 2, 4, 8, 16, 100),
      ...(maxTries !== undefined && { maxTries }),
    },
    aggregation: oneOf<DrawnPlay['aggregation']>(false, 'per-key', 'packed'),
    maxAttempts: oneOf(1, 2, 5),
    faults: { request: oneOf(0, 0.1), failed: oneOf(0, 0.1, 0.3), refused: oneOf(0, 0.05, 0.3) },
    fateEveryMs: oneOf(undefined, 5, 50, 300),
    fates: oneOf<DrawnPlay['fates']>(
      ['crashes'],
      ['loses its locks'],
      ['is stopped'],
      ['crashes', 'loses its locks', 'is stopped'],
    ),
  };
}
