import { seededRandom } from '../../../../../lib/testing/seeded-random';

/** How a transaction puts its rows: each with `put`, several with one call of `put_all`, or with a plain INSERT. */
type Way = 'put' | 'put_all' | 'insert';

export interface Transaction {
  readonly puts: readonly { key: string; topic?: string; data: string }[];
  readonly way: Way;
  readonly ends: 'commit' | 'rollback';
  /**
   * The transaction sets a savepoint after this number of puts, and rolls back to the savepoint before it ends. Undefined if the
   * transaction has no savepoint.
   */
  readonly savepointAfter?: number;
}

/**
 * A random history. Its settings vary independently:
 *
 * - transactions: their length, their keys and topics, how they put rows, and how they end
 * - batches, buffers, ranges and aggregation
 * - poison rows, the number of their tries, and the faults of Kinesis requests
 * - workers: their stops, crashes, lost connections, lost leases and silent connections
 * - the speed of Postgres, locks of other sessions, rotations of the slots, divisions of the ranges, and restores
 */
export interface History {
  readonly seed: number;
  readonly random: () => number;
  /** The topics that all workers have at the end, each with a stream. Empty if one stream has all rows. */
  readonly topics: readonly string[];
  /** A topic that only workers of a later deployment have. */
  readonly lateTopic?: string;
  /** The transactions of each writer in order. */
  readonly writers: readonly (readonly Transaction[])[];
  /**
   * A writer takes the next step with a probability in proportion to its weight. The transactions of a writer with a small weight
   * take many steps.
   */
  readonly paces: readonly number[];
  readonly ranges: number;
  readonly workers: number;
  readonly relay: { batchRows: number; batchBytes: number; maxRowsInFlight: number; maxTries?: number };
  readonly aggregation: false | 'per-key' | 'packed';
  readonly maxAttempts: number;
  /** The probabilities of faults: a response is lost, a request is applied late or fails, or one record of it fails or is rejected. */
  readonly faults: { lost: number; late: number; failed: number; entry: number; refused: number };
  /** The probability that a connection of a worker stays open but gives no more responses. */
  readonly silence: number;
  /** The additional time of one statement of a worker, after the faults have ended. */
  readonly slowestMs: number;
  /** The probability of each event at a step. */
  readonly chaos: Record<
    'stop' | 'crash' | 'disconnect' | 'stealLease' | 'divide' | 'holdSnapshot' | 'restore',
    number
  >;
}

export function historyOf(seed: number): History {
  const random = seededRandom(seed);
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const oneOf = <T>(...values: T[]): T => values[Math.floor(random() * values.length)]!;
  const topics = oneOf([], [], ['red'], ['red', 'blue'], ['red', 'blue', 'green']);
  const maxTries = oneOf(undefined, 1, 2, 3);
  // A row without a topic has no stream, and would wait forever if the relay did not give it up.
  const isWithoutTopic = () => maxTries !== undefined && random() < 0.1;
  const keys = oneOf(1, 2, 3, 5, 8);
  const poison = oneOf(0, 0, 0.05);
  const isSorted = random() < 0.9;
  let rows = 0;
  const transaction = (): Transaction => {
    const puts = Array.from({ length: oneOf(1, 1, 2, 3, 6) }, () => ({
      key: `k${whole(1, keys)}`,
      topic: isWithoutTopic() ? undefined : oneOf(...topics),
      data: `${random() < poison ? 'poison ' : ''}${++rows}`,
    }));
    // Transactions with different lock orders would deadlock, and Postgres would end one of them.
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
    topics,
    lateTopic: topics.length > 1 && random() < 0.3 ? topics[0] : undefined,
    writers,
    paces: writers.map(() => oneOf(0.1, 1, 1, 3)),
    ranges: oneOf(1, 1, 1, 2, 3),
    workers: oneOf(1, 1, 2, 3),
    relay: {
      batchRows: oneOf(1, 2, 3, 5, 100),
      batchBytes: oneOf(1, 4, 1_000_000),
      maxRowsInFlight: oneOf(1, 2, 4, 8, 16, 100),
      maxTries,
    },
    aggregation: oneOf<History['aggregation']>(false, 'per-key', 'packed'),
    maxAttempts: oneOf(1, 2, 5, 20),
    faults: {
      lost: oneOf(0, 0.1),
      late: oneOf(0, 0.1),
      failed: oneOf(0, 0.1),
      entry: oneOf(0, 0.1, 0.3),
      refused: oneOf(0, 0, 0.05),
    },
    silence: rare(),
    slowestMs: random() < 0.02 ? 1_500 : 0,
    chaos: {
      stop: rare(),
      crash: rare(),
      disconnect: rare(),
      stealLease: rare(),
      divide: rare(),
      holdSnapshot: rare(),
      restore: rare(),
    },
  };
}
