import { checkFields, checkWhole } from '../kernel/checks';
import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { checkHedgeBudget, type FanOutHistory } from './fan-out-history';

/** How a query reads its shards: concurrency, attempts, deadline and hedging. */
export interface FanOutReadOptions {
  /**
   * The maximum number of requests in flight, at least 1. Give the client at least the same number of sockets (`maxSockets`),
   * because a request that waits for a socket looks late. The default matches the 50 sockets of the SDK.
   * @default 50
   */
  concurrency?: number;
  /**
   * The maximum number of attempts for one read, at least 1. The query retries a read that is throttled, times out or loses its
   * connection, and waits between attempts with full jitter. Create the client with `maxAttempts: 1`. Otherwise the client
   * retries each of these attempts several times, and a throttled shard looks like a slow shard.
   * @default 5
   */
  attempts?: number;
  /**
   * Upper bound of the wait before the second attempt, in milliseconds, at least 0. The bound doubles with every
   * attempt.
   * @default 50
   */
  backoffBaseMs?: number;
  /**
   * Upper bound of every wait between attempts, in milliseconds, at least 0.
   * @default 1000
   */
  backoffCapMs?: number;
  /**
   * The time limit for the page, in milliseconds from the call, at least zero. At the deadline, the query returns a page with the
   * items that come before all unread items. The cursor of this page continues after these items. If no item comes before all
   * unread items, `onShardFailure` applies.
   * @default no deadline
   */
  deadlineMs?: number;
  /**
   * The behavior if the query cannot read a shard, because all attempts failed or the deadline passed. `fail`: the query throws.
   * `partial`: the page has the items of the other shards, and `missingShards` lists the missing shards. If no shard can be read,
   * the query still throws. The query also throws if a retry cannot help, such as for an invalid filter.
   * @default 'fail'
   */
  onShardFailure?: 'fail' | 'partial';
  /**
   * The share of requests that the query may hedge, from 0 to 0.1: it sends a late request a second time and uses the first
   * response. A request is late if it takes longer than three times the median of the earlier requests, and if only this share of
   * the earlier requests took longer. Requests to a throttled shard are not hedged. A value greater than 0 needs `history`, which
   * records the latencies.
   * @default 0: no hedges
   */
  hedgeBudget?: number;
  /**
   * The measurements of earlier queries. Pass the same history with every query of a client.
   * @default the query uses the sizes in the cursor, and measures the items that it reads
   */
  history?: FanOutHistory;
  /**
   * The clock for the deadline, the waits and the latencies.
   * @default the system clock
   */
  clock?: Clock;
  /**
   * Returns random numbers in [0, 1) for the jitter of the waits.
   * @default Math.random
   */
  random?: () => number;
}

/** The SDK's default number of sockets. */
const DEFAULT_CONCURRENCY = 50;

export type ReadPolicy = Required<Omit<FanOutReadOptions, 'history' | 'deadlineMs'>> &
  Pick<FanOutReadOptions, 'history' | 'deadlineMs'>;

/** @throws InvalidArgumentError if an option is out of its bounds */
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
