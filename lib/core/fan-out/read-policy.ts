import { checkFields, checkWhole } from '../kernel/checks';
import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { checkHedgeBudget, type FanOutHistory } from './fan-out-history';

/** How a query asks its shards: how many at a time, how often, and for how long. */
export interface FanOutReadOptions {
  /**
   * The most requests in flight at once, at least 1. Give the client at least as many sockets (`maxSockets`). The
   * default fits the SDK's own 50 sockets; a request that waits for a socket looks late.
   * @default 50
   */
  concurrency?: number;
  /**
   * The most attempts at one read, at least 1. The engine makes another attempt if a read is throttled, times out or
   * loses its connection, and waits between attempts with full jitter. Create the client with `maxAttempts: 1`:
   * otherwise the retries of the client and of the engine multiply, and a throttled shard looks like a slow one.
   * @default 5
   */
  attempts?: number;
  /**
   * Upper bound of the wait before the second attempt, in milliseconds, at least 0. It doubles with every attempt.
   * @default 50
   */
  backoffBaseMs?: number;
  /**
   * Upper bound of every wait between attempts, in milliseconds, at least 0.
   * @default 1000
   */
  backoffCapMs?: number;
  /**
   * The time by which the page must be complete, in milliseconds from the call, at least 0. At the deadline the page
   * ends with the items that are certain, and its cursor goes on behind them. If no item is certain, `onShardFailure`
   * decides.
   * @default no deadline
   */
  deadlineMs?: number;
  /**
   * What a query does if it cannot read a shard, because all attempts failed or the deadline came. `fail`: the query
   * throws. `partial`: the page holds the items of the other shards and names the missing shards in `missingShards`; if
   * no shard can be read, the query still throws. A failure that no attempt can overcome, such as an invalid filter,
   * always throws.
   * @default 'fail'
   */
  onShardFailure?: 'fail' | 'partial';
  /**
   * The share of requests, from 0 to 0.1, that the engine may send a second time because they are late. A request is
   * late if it takes longer than all but this share of the earlier requests, and longer than three times their median.
   * The engine uses the first answer. It never sends a second request to a shard that throttles. More than 0 needs
   * `history`, which holds the latencies.
   * @default 0, so that no request is sent twice
   */
  hedgeBudget?: number;
  /**
   * What earlier queries have measured. Pass the same history with every query of a client.
   * @default the sizes that the cursor carries, and those of the items that this query reads
   */
  history?: FanOutHistory;
  /**
   * The clock for the deadline, for waits and for latencies.
   * @default the clock of the system
   */
  clock?: Clock;
  /**
   * A source of numbers in [0, 1), for the jitter of the waits.
   * @default Math.random
   */
  random?: () => number;
}

/** The SDK's default number of sockets. */
const DEFAULT_CONCURRENCY = 50;

/** Read options after the check, with a value for every option that has a default. */
export type ReadPolicy = Required<Omit<FanOutReadOptions, 'history' | 'deadlineMs'>> &
  Pick<FanOutReadOptions, 'history' | 'deadlineMs'>;

/** @throws InvalidArgumentError for an option that is out of its bounds */
export function readPolicy(options: FanOutReadOptions): ReadPolicy {
  checkFields('options', options);
  const policy: ReadPolicy = {
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    attempts: options.attempts ?? 5,
    backoffBaseMs: options.backoffBaseMs ?? 50,
    backoffCapMs: options.backoffCapMs ?? 1_000,
    deadlineMs: options.deadlineMs,
    onShardFailure: options.onShardFailure ?? 'fail',
    hedgeBudget: options.hedgeBudget ?? 0,
    history: options.history,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
  checkWhole('concurrency', policy.concurrency, 1);
  checkWhole('attempts', policy.attempts, 1);
  for (const field of ['backoffBaseMs', 'backoffCapMs', 'deadlineMs'] as const) {
    const ms = policy[field];
    if (ms !== undefined && !(Number.isFinite(ms) && ms >= 0)) {
      throw new InvalidArgumentError(field, ms, 'a number of milliseconds of at least 0');
    }
  }
  if (!['fail', 'partial'].includes(policy.onShardFailure)) {
    throw new InvalidArgumentError('onShardFailure', policy.onShardFailure, 'fail or partial');
  }
  checkMethods('clock', policy.clock, 'a clock', ['now', 'schedule', 'sleep']);
  if (policy.history !== undefined) checkMethods('history', policy.history, 'a FanOutHistory', ['sizesOf']);
  if (typeof policy.random !== 'function') throw new InvalidArgumentError('random', policy.random, 'a function');
  checkHedgeBudget(policy.hedgeBudget);
  if (policy.hedgeBudget > 0 && policy.history === undefined) {
    throw new InvalidArgumentError('history', undefined, 'a FanOutHistory if hedgeBudget is greater than 0');
  }
  return policy;
}

function checkMethods(field: string, value: unknown, kind: string, methods: readonly string[]): void {
  const given: Record<string, unknown> = Object(value);
  if (methods.every((method) => typeof given[method] === 'function')) return;
  throw new InvalidArgumentError(field, value, `${kind} with ${methods.join(', ')}`);
}
