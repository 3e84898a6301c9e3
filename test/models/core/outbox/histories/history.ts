import { seededRandom } from '../../../../../lib/testing/seeded-random';

/** How rows are put: by the function, many at once, or by a plain insert. */
type Way = 'put' | 'put_all' | 'insert';

export interface Transaction {
  readonly puts: readonly { key: string; data: string }[];
  readonly way: Way;
  readonly ends: 'commit' | 'rollback';
  /** After how many puts a savepoint is set, to which the rest is rolled back before the end; undefined if none is. */
  readonly savepointAfter?: number;
}

/**
 * One history, drawn from a seed. Its axes, all of which meet: how long transactions are, how they end, how many keys they
 * touch and in which way they put; windows, buffers and ranges; aggregation; poison, and after how many tries it is given
 * up; what becomes of requests to Kinesis; when workers die, lose their connection or a lease that they believe in, or hear
 * nothing more of Postgres; how slow Postgres is; what other sessions hold; when slots rotate, ranges are divided anew, and the database is restored.
 */
export interface History {
  readonly seed: number;
  readonly random: () => number;
  /** Of each writer, its transactions in order. */
  readonly writers: readonly (readonly Transaction[])[];
  /** How likely a writer's next step is taken, against those of the others: the slow have long transactions. */
  readonly paces: readonly number[];
  readonly ranges: number;
  readonly workers: number;
  readonly relay: { batchRows: number; batchBytes: number; maxRowsInFlight: number; maxTries?: number };
  readonly aggregation: false | 'per-key' | 'packed';
  readonly maxAttempts: number;
  /** Of requests: the answer is lost, or applied late; of records: one fails. */
  readonly faults: { lost: number; late: number; failed: number; entry: number };
  /** How likely it is that a worker's connection gives no answer to a statement, though it is open, and none from then on. */
  readonly silence: number;
  /** How long one statement takes, of those after all is written. */
  readonly slowestMs: number;
  /** How likely each of these is at a step. */
  readonly chaos: Record<'crash' | 'disconnect' | 'stealLease' | 'divide' | 'holdSnapshot' | 'restore', number>;
}

export function historyOf(seed: number): History {
  const random = seededRandom(seed);
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const oneOf = <T>(...values: T[]): T => values[Math.floor(random() * values.length)]!;
  const keys = oneOf(1, 2, 3, 5, 8);
  const poison = oneOf(0, 0, 0.05);
  const isSorted = random() < 0.9;
  let rows = 0;
  const transaction = (): Transaction => {
    const puts = Array.from({ length: oneOf(1, 1, 2, 3, 6) }, () => ({
      key: `k${whole(1, keys)}`,
      data: `${random() < poison ? 'poison ' : ''}${++rows}`,
    }));
    // Transactions that lock keys in different orders wait for each other, and Postgres ends one of them.
    if (isSorted) puts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return {
      puts,
      way: oneOf('put', 'put', 'put_all', 'insert'),
      ends: random() < 0.2 ? 'rollback' : 'commit',
      ...(random() < 0.1 && { savepointAfter: whole(0, puts.length) }),
    };
  };
  const writers = Array.from({ length: whole(1, 4) }, () => Array.from({ length: whole(1, 6) }, transaction));
  const rare = () => oneOf(0, 0, 0.005, 0.02);
  return {
    seed,
    random,
    writers,
    paces: writers.map(() => oneOf(0.1, 1, 1, 3)),
    ranges: oneOf(1, 1, 1, 2, 3),
    workers: oneOf(1, 1, 2, 3),
    relay: {
      batchRows: oneOf(1, 2, 3, 5, 100),
      batchBytes: oneOf(1, 4, 1_000_000),
      maxRowsInFlight: oneOf(1, 2, 4, 8, 16, 100),
      maxTries: oneOf(undefined, 1, 2, 3),
    },
    aggregation: oneOf<History['aggregation']>(false, 'per-key', 'packed'),
    maxAttempts: oneOf(1, 2, 5, 20),
    faults: { lost: oneOf(0, 0.1), late: oneOf(0, 0.1), failed: oneOf(0, 0.1), entry: oneOf(0, 0.1, 0.3) },
    silence: rare(),
    slowestMs: random() < 0.02 ? 1_500 : 0,
    chaos: {
      crash: rare(),
      disconnect: rare(),
      stealLease: rare(),
      divide: rare(),
      holdSnapshot: rare(),
      restore: rare(),
    },
  };
}
